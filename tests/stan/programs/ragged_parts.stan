// Parts of different sizes, some of them empty: sums and densities over them.
data {
  int<lower=1> N;
  int<lower=1> G;
  array[G] int first;
  array[G] int last;
  vector[N] y;
  array[N] int counts;
  vector[N] x;
}
parameters {
  vector[G] mu;
  real slope;
  real<lower=0> sigma;
  vector[N] eta;
}
model {
  vector[G] level;
  mu ~ normal(0, 1);
  slope ~ normal(0, 1);
  sigma ~ normal(0, 1);
  eta ~ normal(0, 1);
  for (g in 1 : G) {
    y[first[g] : last[g]] ~ normal(mu[g] + slope * x[first[g] : last[g]], sigma);
    target += poisson_log_lpmf(counts[first[g] : last[g]] | eta[first[g] : last[g]]);
    level[g] = sum(exp(eta[first[g] : last[g]])) + dot_self(segment(eta, first[g], last[g] - first[g] + 1));
    target += -0.1 * (x[first[g] : last[g]] .* eta[first[g] : last[g]])' * eta[first[g] : last[g]];
  }
  level ~ normal(1, 3);
}
