// Log variances that follow one another, as they are.
data {
  int<lower=2> days;
  vector[days] gain;
}
parameters {
  real level;
  real<lower=0, upper=1> half_carry;
  real<lower=0> rough;
  vector[days] log_variance;
}
transformed parameters {
  real carry = 2 * half_carry - 1;
}
model {
  level ~ normal(0, 3);
  half_carry ~ beta(8, 2);
  rough ~ exponential(2);
  log_variance[1] ~ normal(level, rough / sqrt(1 - carry ^ 2));
  for (d in 1 : days - 1) {
    log_variance[d + 1] ~ normal(level + carry * (log_variance[d] - level), rough);
    gain[d] ~ normal(0, exp(0.5 * log_variance[d]));
  }
  gain[days] ~ normal(0, exp(0.5 * log_variance[days]));
}
