// The same from standard normals, by a recurrence that changes a vector in place.
data {
  int<lower=2> days;
  vector[days] gain;
}
parameters {
  real level;
  real<lower=-1, upper=1> carry;
  real<lower=0> rough;
  vector[days] raw;
}
transformed parameters {
  vector[days] log_variance = rough * raw;
  log_variance[1] /= sqrt(1 - carry ^ 2);
  for (d in 2 : days) log_variance[d] += carry * log_variance[d - 1];
  log_variance += level;
}
model {
  level ~ normal(0, 3);
  target += beta_lpdf(0.5 * (carry + 1) | 8, 2);
  rough ~ exponential(2);
  raw ~ std_normal();
  gain ~ normal(0, exp(0.5 * log_variance));
}
