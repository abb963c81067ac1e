data {
  int row_count;
  real x[row_count];
  int y[row_count];
}
parameters {
  real<lower=0> rho;
  real<lower=0> alpha;
  vector[row_count] z;
  real a;
}
model {
  matrix[row_count, row_count] covariance = cov_exp_quad(x, alpha, rho);
  for (i in 1:row_count) covariance[i, i] += 1e-4;
  rho ~ inv_gamma(5, 5);
  alpha ~ normal(0, 1);
  z ~ normal(0, 1);
  a ~ normal(0, 2);
  y ~ poisson_log(a + cholesky_decompose(covariance) * z);
}
