// Logistic regression. The data are made up with alpha = 0.5 and coefficients of 0.5 z.
data {
  int<lower=0> N;
  int<lower=1> K;
  matrix[N, K] X;
  array[N] int<lower=0, upper=1> y;
}
parameters {
  real alpha;
  vector[K] beta;
}
model {
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  y ~ bernoulli_logit(alpha + X * beta);
}
