// Times to an event, Weibull and exponential, where some end without it.
data {
  int<lower=0> N;
  vector<lower=0>[N] time;
  array[N] int<lower=0, upper=1> event;
  vector[N] x;
}
parameters {
  real alpha;
  real beta;
  real<lower=0> shape;
}
model {
  alpha ~ normal(0, 2);
  beta ~ normal(0, 1);
  shape ~ gamma(2, 1);
  for (n in 1 : N) {
    real scale = exp(-(alpha + beta * x[n]) / shape);
    if (event[n] == 1) {
      target += weibull_lpdf(time[n] | shape, scale);
    } else {
      target += weibull_lccdf(time[n] | shape, scale);
    }
    target += 0.1 * (event[n] ? exponential_lpdf(time[n] | exp(alpha)) : exponential_lccdf(time[n] | exp(alpha)));
  }
}
