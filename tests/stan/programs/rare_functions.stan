// Special functions and distributions that few programs use.
data {
  int N;
  vector[N] time;
  vector<lower=-3.14, upper=3.14>[N] angle;
  matrix[2, 5] y;
}
parameters {
  real<lower=0.5, upper=2> alpha;
  real<lower=0, upper=0.2> tau;
  real<lower=0.1, upper=0.9> beta;
  real delta;
  real<lower=-3, upper=3> mu;
  real<lower=0.1, upper=6> kappa;
  vector<lower=0.1, upper=1>[2] variance;
}
model {
  time ~ wiener(alpha, tau, beta, delta);
  for (n in 1 : N) {
    target += von_mises_lcdf(angle[n] | mu, kappa) + 0.1 * von_mises_lccdf(angle[n] | mu, kappa);
  }
  target += hypergeometric_2F1(alpha, beta, 1.5 + alpha, 0.6 * tanh(delta));
  target += hypergeometric_3F2({alpha, beta, 1.0}, {2.0, 1.0 + alpha}, 0.7 * beta);
  target += hypergeometric_pFq([alpha], [beta, 2.5], delta) + hypergeometric_1F0(alpha, 0.5 * beta);
  target += bessel_first_kind(2, kappa) + bessel_second_kind(1, kappa) + inv_inc_beta(alpha, kappa, beta);
  y ~ gaussian_dlm_obs([[1, 0.3], [0.2, 1]], [[0.9, delta / (1 + abs(delta))], [0, 0.5]], variance,
                       diag_matrix(variance), [mu, delta]', identity_matrix(2));
  target += gaussian_dlm_obs_lpdf(y | [[1, 0.3]], [[beta]], [[1, 0.2], [0.2, 1 + tau]], [[alpha]], [mu]', [[1]]);
  delta ~ std_normal();
}
