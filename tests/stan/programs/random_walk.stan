// Recurrences of second order in vectors: a local trend and a season.
data {
  int<lower=3> T;
  vector[T] y;
}
parameters {
  vector[T] mu_err;
  vector[T] season;
  real<lower=0> s_mu;
  real<lower=0> s_season;
  real<lower=0> s_y;
}
transformed parameters {
  vector[T] mu;
  vector[T] v;
  mu[1] = mu_err[1];
  mu[2] = mu[1] + s_mu * mu_err[2];
  for (t in 3 : T) {
    mu[t] = 2 * mu[t - 1] - mu[t - 2] + s_mu * mu_err[t];
  }
  v[1] = 0;
  v[2 : T] = mu[2 : T] - mu[1 : T - 1];
}
model {
  mu_err ~ std_normal();
  for (t in 4 : T) {
    season[t] ~ normal(-sum(season[t - 3 : t - 1]), s_season);
  }
  season[1 : 3] ~ normal(0, 1);
  y ~ normal(mu + season, s_y);
  [s_mu, s_season, s_y] ~ normal(0, 1);
  v ~ normal(0, 5);
}
