// Differential equations in the old form, and a sum of parts by reduce_sum.
functions {
  array[] real decay(real t, array[] real y, array[] real theta, array[] real x_r, array[] int x_i) {
    return {-theta[1] * y[1], theta[1] * y[1] - theta[2] * y[2] + x_r[1] * sin(t) * x_i[1]};
  }
  vector pendulum(real t, vector y, real damping, array[] real g) {
    return [y[2], -g[1] * sin(y[1]) - damping * y[2]]';
  }
  real part_lpdf(array[] real part, int start, int end, vector mu, real sigma) {
    return normal_lpdf(part | mu[start : end], sigma);
  }
}
data {
  int N;
  array[N] real<lower=0> ts;
  array[N, 2] real y;
}
transformed data {
  array[1] real x_r = {0.1};
  array[1] int x_i = {2};
}
parameters {
  array[2] real<lower=0> theta;
  real<lower=0> sigma;
  real angle;
  real<lower=0> damping;
}
transformed parameters {
  array[N, 2] real mu = integrate_ode_rk45(decay, {1.0, 0.0}, 0, ts, theta, x_r, x_i);
  array[N] vector[2] swing = ode_bdf_tol(pendulum, [angle, 0]', 0.0, ts, 1e-8, 1e-8, 10000, damping, {9.81});
}
model {
  theta ~ lognormal(0, 1);
  sigma ~ exponential(1);
  angle ~ normal(0, 1);
  damping ~ exponential(1);
  for (n in 1 : N) {
    y[n] ~ normal(mu[n], sigma);
    y[n, 1] ~ normal(swing[n, 1], 1 + sigma);
  }
  target += reduce_sum(part_lpdf, y[ : , 2], 1, to_vector(mu[ : , 2]), sigma);
}
