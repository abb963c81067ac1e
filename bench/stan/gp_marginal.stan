data {
  int row_count;
  real x[row_count];
  vector[row_count] y;
}
transformed data {
  vector[row_count] zero = rep_vector(0, row_count);
}
parameters {
  real<lower=0> rho;
  real<lower=0> alpha;
  real<lower=0> sigma;
}
model {
  matrix[row_count, row_count] covariance = cov_exp_quad(x, alpha, rho);
  for (i in 1:row_count) covariance[i, i] += square(sigma) + 1e-4;
  rho ~ inv_gamma(5, 5);
  alpha ~ normal(0, 1);
  sigma ~ normal(0, 1);
  y ~ multi_normal_cholesky(zero, cholesky_decompose(covariance));
}
