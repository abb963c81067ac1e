// Gaussian process regression with the function integrated out, and its mean at new places.
data {
  int<lower=1> N;
  array[N] real x;
  vector[N] y;
  int<lower=0> M;
  array[M] real x_new;
}
parameters {
  real<lower=0> height;
  real<lower=0> reach;
  real<lower=0> noise;
}
transformed parameters {
  matrix[N, N] L = cholesky_decompose(add_diag(gp_exp_quad_cov(x, height, reach), square(noise)));
}
model {
  height ~ normal(0, 2);
  reach ~ inv_gamma(4, 4);
  noise ~ normal(0, 1);
  y ~ multi_normal_cholesky(rep_vector(0, N), L);
}
generated quantities {
  vector[M] f_new;
  {
    vector[N] half = mdivide_left_tri_low(L, y);
    f_new = mdivide_left_tri_low(L, gp_exp_quad_cov(x, x_new, height, reach))' * half;
  }
}
