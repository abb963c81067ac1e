data {
  int row_count;
  real first_variance;
  vector[row_count] y;
}
parameters {
  real mu;
  real<lower=0> base;
  real<lower=0, upper=1> news;
  real<lower=0, upper=1 - news> memory;
}
model {
  vector[row_count] spread;
  spread[1] = first_variance;
  for (t in 2:row_count) spread[t] = base + news * square(y[t - 1] - mu) + memory * spread[t - 1];
  mu ~ normal(0, 2);
  base ~ normal(0, 1);
  y ~ normal(mu, sqrt(spread));
}
