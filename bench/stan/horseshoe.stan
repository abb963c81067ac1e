data {
  int row_count;
  int column_count;
  matrix[row_count, column_count] x;
  vector[row_count] y;
}
parameters {
  real a;
  real<lower=0> sigma;
  real<lower=0> tau;
  vector<lower=0>[column_count] lambda;
  vector[column_count] z;
}
model {
  a ~ normal(0, 2);
  sigma ~ normal(0, 2);
  tau ~ cauchy(0, 0.05);
  lambda ~ cauchy(0, 1);
  z ~ normal(0, 1);
  y ~ normal_id_glm(x, a, tau * lambda .* z, sigma);
}
