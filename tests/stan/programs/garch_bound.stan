// Variances that follow surprises, whose memory is bounded by what another parameter leaves.
data {
  int<lower=1> days;
  array[days] real gain;
  real<lower=0> start;
}
parameters {
  real drift;
  real<lower=0> floor_variance;
  real<lower=0, upper=1> shock;
  real<lower=0, upper=0.999 - 0.999 * shock> memory;
}
transformed parameters {
  array[days] real<lower=0> variances;
  variances[1] = start ^ 2;
  for (d in 1 : days - 1) {
    variances[d + 1] = floor_variance + shock * (gain[d] - drift) ^ 2 + memory * variances[d];
  }
}
model {
  drift ~ normal(0, 1);
  floor_variance ~ gamma(2, 4);
  gain ~ normal(drift, sqrt(variances));
}
