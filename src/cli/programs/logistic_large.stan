// Logistic regression of the size that samplers are compared on. The data are made up with a = 0 and coefficients of 0.5 z.
data {
  int<lower=0> N;
  int<lower=1> K;
  matrix[N, K] X;
  array[N] int<lower=0, upper=1> y;
}
parameters {
  real a;
  vector[K] be;
}
model {
  a ~ normal(0, 5);
  be ~ normal(0, 1);
  y ~ bernoulli_logit(a + X * be);
}
