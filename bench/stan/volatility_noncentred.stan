data {
  int row_count;
  vector[row_count] y;
}
parameters {
  real mu;
  real<lower=-1, upper=1> phi;
  real<lower=0> sigma;
  vector[row_count] z;
}
model {
  vector[row_count] h = z;
  h[1] = h[1] / sqrt(1 - square(phi));
  for (t in 2:row_count) h[t] += phi * h[t - 1];
  h = mu + sigma * h;
  mu ~ normal(0, 3);
  sigma ~ normal(0, 1);
  z ~ normal(0, 1);
  y ~ normal(0, exp(h / 2));
}
