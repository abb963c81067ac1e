// Radon in houses: intercepts vary by county, and a county's uranium predicts its intercept. The data are made up with
// g0 = 1.4, g1 = 0.7, b = -0.7, sa = 0.4, sy = 0.7.
data {
  int<lower=1> N;
  int<lower=1> J;
  array[N] int<lower=1, upper=J> county;
  vector[J] uranium;
  vector<lower=0, upper=1>[N] on_floor;
  vector[N] log_radon;
}
transformed data {
  vector[N] y = log_radon;
}
parameters {
  real g0;
  real g1;
  real b;
  real<lower=0> sa;
  real<lower=0> sy;
  vector[J] z;
}
transformed parameters {
  vector[J] a = g0 + g1 * uranium + sa * z;
}
model {
  g0 ~ normal(0, 10);
  g1 ~ normal(0, 10);
  b ~ normal(0, 10);
  sa ~ cauchy(0, 5);
  sy ~ cauchy(0, 5);
  z ~ std_normal();
  y ~ normal(a[county] + b * on_floor, sy);
}
