data {
  int row_count;
  real x[row_count];
  vector[row_count] y;
}
parameters {
  real<lower=0> rho;
  real<lower=0> alpha;
  vector[row_count] z;
  real<lower=0> sigma;
}
model {
  matrix[row_count, row_count] covariance = cov_exp_quad(x, alpha, rho);
  for (i in 1:row_count) covariance[i, i] += 1e-4;
  rho ~ inv_gamma(5, 5);
  alpha ~ normal(0, 1);
  z ~ normal(0, 1);
  sigma ~ normal(0, 1);
  y ~ normal(cholesky_decompose(covariance) * z, sigma);
}
