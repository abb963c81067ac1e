data {
  int row_count;
  int column_count;
  matrix[row_count, column_count] x;
  vector[row_count] y;
}
parameters {
  real a;
  vector[column_count] b;
  real<lower=0> sigma;
}
model {
  a ~ normal(0, 2);
  b ~ normal(0, 1);
  sigma ~ normal(0, 1);
  y ~ normal_id_glm(x, a, b, sigma);
}
