data {
  int row_count;
  int column_count;
  matrix[row_count, column_count] x;
  int y[row_count];
}
parameters {
  real a;
  vector[column_count] b;
  real c;
  vector[column_count] g;
}
model {
  vector[row_count] eta = a + x * b;
  vector[row_count] logit_zero = c + x * g;
  a ~ normal(0, 2);
  b ~ normal(0, 1);
  c ~ normal(0, 2);
  g ~ normal(0, 1);
  for (i in 1:row_count) {
    if (y[i] == 0)
      target += log_sum_exp(bernoulli_logit_lpmf(1 | logit_zero[i]),
                            bernoulli_logit_lpmf(0 | logit_zero[i]) + poisson_log_lpmf(0 | eta[i]));
    else
      target += bernoulli_logit_lpmf(0 | logit_zero[i]) + poisson_log_lpmf(y[i] | eta[i]);
  }
}
