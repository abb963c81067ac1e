// Two groups under one population, made up with alpha = 4, beta = 7, sigma_obs = 0.8.
data {
  int<lower=0> N;
  vector[N] y_alpha;
  vector[N] y_beta;
}
parameters {
  real mu_global;
  real<lower=0> sigma_global;
  real alpha;
  real beta;
  real<lower=0> sigma_obs;
}
model {
  mu_global ~ normal(0, 10);
  sigma_global ~ exponential(1);
  alpha ~ normal(mu_global, sigma_global);
  beta ~ normal(mu_global, sigma_global);
  sigma_obs ~ exponential(2);
  y_alpha ~ normal(alpha, sigma_obs);
  y_beta ~ normal(beta, sigma_obs);
}
