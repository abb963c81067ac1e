// Sums over the first or the last numbers of a list, of which each row has its own number of: effects of ordered
// categories, in functions that return early; sums into places of some of the rows.
functions {
  real effect(vector scale, int i) {
    if (i == 0) return 0;
    else return rows(scale) * sum(scale[1 : i]);
  }
  real falling(vector scale, int i) {
    if (i > 0) return prod(scale[1 : i]);
    return 1;
  }
}
data {
  int<lower=1> N;
  int<lower=1> K;
  int<lower=1> M;
  array[N] int<lower=0, upper=K> x;
  array[N] int<lower=0, upper=M> z;
  array[N] int<lower=1, upper=K> from_place;
  array[N] int<lower=0, upper=1> seen;
  vector[N] y;
}
parameters {
  real a;
  real b;
  real c;
  simplex[K] d;
  simplex[M] e;
  row_vector[K] w;
  real<lower=0> sigma;
}
transformed parameters {
  vector[N] after;
  for (n in 1 : N) after[n] = sum(w[from_place[n] : ]) + sum(tail(d, K - from_place[n]));
}
model {
  vector[N] mu = rep_vector(a, N);
  vector[N] scale = rep_vector(0, N);
  for (n in 1 : N) mu[n] += b * effect(d, x[n]) + c * effect(e, z[n]);
  for (n in 1 : N) scale[n] += 0.1 * sum(head(d, z[n]) .* head(e, z[n]));
  for (n in 1 : N) {
    if (seen[n] == 1) mu[N + 1 - n] += falling(d, x[n]);
  }
  a ~ normal(0, 2);
  b ~ normal(0, 1);
  c ~ normal(0, 1);
  d ~ dirichlet(rep_vector(1, K));
  e ~ dirichlet(rep_vector(2, M));
  w ~ normal(0, 1);
  sigma ~ student_t(3, 0, 2.5);
  y ~ normal(mu + 0.2 * after, sigma + scale);
}
