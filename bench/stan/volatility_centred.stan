data {
  int row_count;
  vector[row_count] y;
}
parameters {
  real mu;
  real<lower=-1, upper=1> phi;
  real<lower=0> sigma;
  vector[row_count] h;
}
model {
  mu ~ normal(0, 3);
  sigma ~ normal(0, 1);
  h[1] ~ normal(mu, sigma / sqrt(1 - square(phi)));
  h[2:row_count] ~ normal(mu + phi * (h[1:(row_count - 1)] - mu), sigma);
  y ~ normal(0, exp(h / 2));
}
