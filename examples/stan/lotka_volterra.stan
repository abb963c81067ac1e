// Hares and lynxes: predator and prey after Lotka and Volterra, fitted to pelts of the Hudson's Bay Company.
functions {
  vector change(real t, vector z, real alpha, real beta, real gamma, real delta) {
    real hare = z[1];
    real lynx = z[2];
    return [(alpha - beta * lynx) * hare, (delta * hare - gamma) * lynx]';
  }
}
data {
  int<lower=0> N;
  array[N] real ts;
  vector<lower=0>[2] y_start;
  array[N] vector<lower=0>[2] y;
}
parameters {
  real<lower=0> alpha;
  real<lower=0> beta;
  real<lower=0> gamma;
  real<lower=0> delta;
  vector<lower=0>[2] z_start;
  vector<lower=0>[2] sigma;
}
transformed parameters {
  array[N] vector[2] z = ode_rk45(change, z_start, 0.0, ts, alpha, beta, gamma, delta);
}
model {
  alpha ~ normal(1, 0.5);
  gamma ~ normal(1, 0.5);
  beta ~ normal(0.05, 0.05);
  delta ~ normal(0.05, 0.05);
  sigma ~ lognormal(-1, 1);
  z_start ~ lognormal(log(10), 1);
  y_start ~ lognormal(log(z_start), sigma);
  for (n in 1 : N) {
    y[n] ~ lognormal(log(z[n]), sigma);
  }
}
generated quantities {
  vector[2] balance = [gamma / delta, alpha / beta]';
}
