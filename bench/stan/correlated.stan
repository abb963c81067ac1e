data {
  int row_count;
  int column_count;
  vector[column_count] y[row_count];
}
parameters {
  vector[column_count] mu;
  vector<lower=0>[column_count] tau;
  cholesky_factor_corr[column_count] factor;
}
model {
  mu ~ normal(0, 5);
  tau ~ normal(0, 2);
  factor ~ lkj_corr_cholesky(2);
  y ~ multi_normal_cholesky(mu, diag_pre_multiply(tau, factor));
}
