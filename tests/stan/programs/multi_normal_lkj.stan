// A covariance as correlations and scales, over arrays of vectors at once.
data {
  int<lower=1> N;
  int<lower=1> K;
  array[N] vector[K] y;
}
parameters {
  vector[K] mu;
  corr_matrix[K] Omega;
  vector<lower=0>[K] tau;
  cov_matrix[2] S;
  cholesky_factor_cov[3, 2] F;
  real<lower=2> nu;
}
transformed parameters {
  matrix[K, K] Sigma = quad_form_diag(Omega, tau);
}
model {
  tau ~ lognormal(0, 0.5);
  Omega ~ lkj_corr(2);
  mu ~ normal(0, 2);
  y ~ multi_normal(mu, Sigma);
  y[1] ~ multi_student_t(nu, mu, Sigma);
  y[2] ~ multi_normal_prec(mu, inverse_spd(Sigma));
  nu ~ gamma(2, 0.1);
  S ~ inv_wishart(5, identity_matrix(2));
  S ~ wishart(4, [[1, 0.2], [0.2, 0.5]]);
  target += -0.5 * sum(square(F)) + 0.1 * sum(tcrossprod(F));
}
