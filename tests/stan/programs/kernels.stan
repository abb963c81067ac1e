// Gaussian process kernels of each kind, in one and two dimensions.
data {
  int N;
  array[N] real x;
  array[N] vector[2] p;
  vector[N] y;
}
parameters {
  real<lower=0> a;
  real<lower=0.3> l;
  array[2] real<lower=0.3> ls;
  real<lower=0> s;
}
model {
  matrix[N, N] K = gp_exp_quad_cov(p, a, ls) + gp_matern32_cov(x, a, l) + gp_matern52_cov(p, 1.0, l)
                   + gp_exponential_cov(x, a, l) + gp_periodic_cov(x, a, l, 2.0) + gp_dot_prod_cov(x, s);
  a ~ normal(0, 1);
  l ~ inv_gamma(3, 3);
  ls ~ inv_gamma(3, 3);
  s ~ normal(0, 1);
  y ~ multi_normal(zeros_vector(N), add_diag(K, 0.1 + square(s)));
  target += 0.1 * sum(gp_exp_quad_cov(x, x[1 : 2], a, l)) + multi_normal_cholesky_lpdf(y | to_vector(x), cholesky_decompose(add_diag(K, 1)));
}
