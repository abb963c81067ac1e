data {
  int row_count;
  int column_count;
  matrix[row_count, column_count] x;
  int y[row_count];
}
parameters {
  real a;
  vector[column_count] b;
}
model {
  a ~ normal(0, 2);
  b ~ normal(0, 1);
  y ~ bernoulli_logit_glm(x, a, b);
}
