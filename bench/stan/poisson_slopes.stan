data {
  int row_count;
  int groups;
  int group[row_count];
  vector[row_count] x;
  int y[row_count];
}
parameters {
  real a;
  real b;
  real<lower=0> sa;
  real<lower=0> sb;
  vector[groups] za;
  vector[groups] zb;
}
model {
  vector[groups] intercept = a + sa * za;
  vector[groups] slope = b + sb * zb;
  a ~ normal(0, 2);
  b ~ normal(0, 1);
  sa ~ normal(0, 1);
  sb ~ normal(0, 1);
  za ~ normal(0, 1);
  zb ~ normal(0, 1);
  y ~ poisson_log(intercept[group] + slope[group] .* x);
}
