// Doses are not known but for readings of two instruments.
data {
  int<lower=1> N;
  matrix[N, 2] reading;
  array[N] int<lower=0, upper=1> ill;
  vector<lower=0>[2] usual_error;
}
parameters {
  real centre;
  real<lower=0> width;
  vector[N] dose_raw;
  vector<lower=0>[2] error;
  real shift;
  real at_zero;
  real by_dose;
}
transformed parameters {
  vector[N] dose = centre + width * dose_raw;
}
model {
  centre ~ normal(0, 2);
  width ~ normal(0, 1);
  dose_raw ~ std_normal();
  for (d in 1:2) error[d] ~ lognormal(log(usual_error[d]), 0.3);
  shift ~ normal(0, 0.5);
  reading[:, 1] ~ normal(dose, error[1]);
  for (n in 1:N) reading[n, 2] ~ normal(shift + dose[n], error[2]);
  at_zero ~ normal(0, 2);
  by_dose ~ normal(0, 1);
  ill ~ bernoulli_logit(at_zero + by_dose * dose);
}
generated quantities {
  real reliability = square(width) / (square(width) + square(error[1]));
  vector[N] risk = inv_logit(at_zero + by_dose * dose);
}
