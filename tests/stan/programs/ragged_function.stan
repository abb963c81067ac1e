// Functions of the program that take parts of different sizes: by elements, by size, and as lists.
functions {
  real zip_lpmf(array[] int y, vector eta, real p) {
    real lp = 0;
    for (n in 1:size(y)) {
      if (y[n] == 0) {
        lp += log_mix(p, 0, poisson_log_lpmf(0 | eta[n]));
      } else {
        lp += log1m(p) + poisson_log_lpmf(y[n] | eta[n]);
      }
    }
    return lp / num_elements(eta);
  }
  real near_lpdf(vector x, real mu) {
    return normal_lpdf(x | mu, 1.5) + dot_self(x) * 0.01;
  }
  real first_two(vector x) {
    return sum(x[1:2]);
  }
  vector twice(vector x) {
    return x * 2;
  }
}
data {
  int N;
  int G;
  array[G] int size_of;
  array[N] int y;
  vector[N] x;
}
parameters {
  vector[G] a;
  real b;
  real<lower=0, upper=1> p;
  real<lower=0> s;
}
model {
  int at = 1;
  vector[N] z = x * b;
  a ~ normal(0, s);
  b ~ normal(0, 1);
  s ~ exponential(1);
  for (g in 1:G) {
    segment(y, at, size_of[g]) ~ zip(a[g] + b * segment(x, at, size_of[g]), p);
    target += zip_lpmf(y[at:(at + size_of[g] - 1)] | exp(z[at:(at + size_of[g] - 1)]), 0.5 * p);
    at += size_of[g];
  }
  at = 1;
  for (g in 1:G) {
    target += sum(twice(segment(z, at, size_of[g]))) * 0.1;
    target += near_lpdf(segment(z, at, size_of[g]) | a[g]);
    target += first_two(segment(z, at, size_of[g])) * 0.1;
    at += size_of[g];
  }
}
