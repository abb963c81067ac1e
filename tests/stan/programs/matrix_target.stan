// A matrix times a vector, with target += and densities as functions.
data {
  int<lower=0> N;
  int<lower=1> K;
  matrix[N, K] X;
  vector[N] y;
}
parameters {
  vector[K] beta;
  real<lower=0> sigma;
}
model {
  target += normal_lpdf(beta | 0, 10);
  target += -log(sigma) + lognormal_lupdf(sigma | 0, 1);
  target += normal_lpdf(y | X * beta, sigma);
  target += {beta[1] * 0.1, sigma * -0.2};
  target += beta * 0.01;
}
