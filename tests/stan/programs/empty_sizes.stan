// Sizes of nothing: loops that never run, densities of nothing, and parameters without elements.
data {
  int<lower=0> N;
  int<lower=0> K;
  vector[N] y;
  matrix[N, K] X;
  array[N] int k;
  array[0] real none;
}
transformed data {
  vector[N] z = y * 2;
  array[0, 3] int nothing;
}
parameters {
  vector[K] beta;
  real alpha;
  array[N] real<lower=0> s;
}
model {
  alpha ~ normal(sum(y) + size(nothing), 1);
  beta ~ normal(0, 1);
  y ~ normal(X * beta + alpha, 1);
  k ~ poisson(exp(alpha));
  s ~ exponential(1);
  none ~ normal(0, 1);
  for (n in 1 : N) y[n] ~ normal(z[n], 1);
  for (i in 3 : 2) target += alpha;
  target += sum(none) + sum(y[1 : 0]) + prod(beta) * alpha;
}
