// Times until a part breaks, by maker: seen, seen too late, or not seen before the end.
functions {
  real weibull_between_lpdf(real low, real high, real shape, real scale) {
    return log_diff_exp(weibull_lccdf(low | shape, scale), weibull_lccdf(high | shape, scale));
  }
}
data {
  int<lower=1> N;
  int<lower=1> J;
  array[N] int<lower=1, upper=J> maker;
  array[N] int<lower=0, upper=2> how;  // 0: seen, 1: still whole, 2: between two visits
  vector<lower=0>[N] first;
  vector<lower=0>[N] last;
  vector[N] load;
}
parameters {
  real<lower=0> shape;
  real level;
  real by_load;
  real<lower=0> spread;
  vector<offset=0, multiplier=spread>[J] frailty;
}
model {
  shape ~ gamma(4, 2);
  level ~ normal(1, 1);
  by_load ~ normal(0, 1);
  spread ~ exponential(2);
  frailty ~ normal(0, spread);
  for (n in 1:N) {
    real scale = exp(level + by_load * load[n] + frailty[maker[n]]);
    if (how[n] == 0) {
      first[n] ~ weibull(shape, scale);
    } else if (how[n] == 1) {
      target += weibull_lccdf(first[n] | shape, scale);
    } else {
      target += weibull_between_lpdf(first[n] | last[n], shape, scale);
    }
  }
}
generated quantities {
  vector[J] median_time;
  for (j in 1:J) median_time[j] = exp(level + frailty[j]) * log(2) ^ (1 / shape);
}
