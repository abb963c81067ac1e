// Counts along a line, their log rates a Gaussian process made of standard normals.
data {
  int<lower=1> bins;
  array[bins] real where;
  array[bins] int<lower=0> hits;
}
parameters {
  real<lower=0> reach;
  real<lower=0> swing;
  real level;
  vector[bins] raw;
}
transformed parameters {
  vector[bins] log_rate;
  {
    matrix[bins, bins] factor = cholesky_decompose(add_diag(gp_exp_quad_cov(where, swing, reach), 1e-3));
    log_rate = level + factor * raw;
  }
}
model {
  reach ~ inv_gamma(4, 4);
  swing ~ normal(0, 1);
  level ~ normal(1, 1);
  raw ~ std_normal();
  hits ~ poisson_log(log_rate);
}
