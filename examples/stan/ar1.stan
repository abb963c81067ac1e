// A stationary autoregression of first order, whose first value has the stationary distribution.
data {
  int<lower=2> T;
  vector[T] y;
}
parameters {
  real mu;
  real<lower=-1, upper=1> phi;
  real<lower=0> sigma;
}
model {
  mu ~ normal(0, 5);
  phi ~ normal(0.5, 0.5);
  sigma ~ normal(0, 2);
  y[1] ~ normal(mu, sigma / sqrt(1 - square(phi)));
  y[2 : T] ~ normal(mu + phi * (y[1 : T - 1] - mu), sigma);
}
generated quantities {
  real half_life = log(0.5) / log(abs(phi));
}
