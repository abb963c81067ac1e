// What dies away a thousand times as fast as the rest: an explicit solver would go by that.
functions {
  vector slopes(real t, vector y, real k) {
    vector[2] d;
    d[1] = -300 * k * (y[1] - y[2]);
    d[2] = -k * y[2] + 0.1 * sin(t);
    return d;
  }
}
data {
  int T;
  array[T] real times;
  array[T] vector[2] seen;
}
parameters {
  real<lower=0> k;
  vector<lower=0>[2] start;
  real<lower=0> sigma;
}
transformed parameters {
  array[T] vector[2] states = ode_bdf(slopes, start, 0.0, times, k);
}
model {
  k ~ lognormal(0, 0.5);
  start ~ lognormal(0, 0.5);
  sigma ~ normal(0, 1);
  for (t in 1 : T) seen[t] ~ normal(states[t], sigma);
}
