// Each kind of constraint at once, in arrays too.
data {
  int K;
  vector[K] low;
  vector[K] high;
}
parameters {
  unit_vector[K] direction;
  array[2] unit_vector[3] directions;
  sum_to_zero_vector[K] effect;
  ordered[K] cuts;
  positive_ordered[K] rates;
  array[2] ordered[2] pairs;
  simplex[K] share;
  vector<lower=low, upper=high>[K] between;
  array[2] vector<lower=low>[K] over;
  vector<offset=low, multiplier=2>[K] shifted;
  real<offset=1, multiplier=3> centred;
  real<multiplier=4> wide;
  matrix<lower=0>[2, 3] positive;
  row_vector<lower=-1, upper=1>[2] unit;
  cholesky_factor_corr[3] Lc;
  cholesky_factor_cov[2] Lv;
  corr_matrix[3] Rc;
  cov_matrix[2] Sv;
}
model {
  effect ~ normal(0, 1);
  cuts ~ normal(0, 2);
  rates ~ gamma(2, 1);
  for (i in 1 : 2) pairs[i] ~ normal(0, 1);
  share ~ dirichlet(linspaced_vector(K, 1, 3));
  over[1] ~ normal(low, 2);
  over[2] ~ normal(low, 1);
  shifted ~ normal(0, 1);
  centred ~ normal(2, 1);
  wide ~ normal(0, 1);
  to_vector(positive) ~ exponential(1);
  target += direction[1] * 2 + directions[1, 2] - directions[2, 3] + sum(square(between)) * 0.1 + unit * unit' * 0.1;
  Lc ~ lkj_corr_cholesky(1.5);
  Rc ~ lkj_corr(1);
  Sv ~ inv_wishart(4, [[1, 0], [0, 2]]);
  target += -sum(square(Lv)) + 0.2 * Lc[3, 1] + 0.1 * Rc[2, 3];
}
