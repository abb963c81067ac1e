// Counts with exposure: a Poisson regression whose log rates vary by group.
data {
  int<lower=0> N;
  int<lower=1> G;
  array[N] int<lower=1, upper=G> group;
  vector<lower=0>[N] exposure;
  vector[N] x;
  array[N] int<lower=0> y;
}
transformed data {
  vector[N] log_exposure = log(exposure);
}
parameters {
  real mu;
  real beta;
  real<lower=0> sigma;
  vector<offset=mu, multiplier=sigma>[G] alpha;
}
model {
  mu ~ normal(0, 2);
  beta ~ normal(0, 1);
  sigma ~ exponential(1);
  alpha ~ normal(mu, sigma);
  y ~ poisson_log(log_exposure + alpha[group] + beta * x);
}
generated quantities {
  vector[G] rate = exp(alpha);
}
