data {
  int row_count;
  vector[row_count] y;
}
parameters {
  real c;
  real first;
  real second;
  real<lower=0> sigma;
}
model {
  c ~ normal(0, 1);
  first ~ normal(0, 0.5);
  second ~ normal(0, 0.5);
  sigma ~ normal(0, 1);
  y[3:row_count] ~ normal(c + first * y[2:(row_count - 1)] + second * y[1:(row_count - 2)], sigma);
}
