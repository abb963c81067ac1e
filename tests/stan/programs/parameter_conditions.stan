// Choices and loops that depend on parameters: branches, minima, and a ternary on a parameter.
data {
  int N;
  vector[N] x;
  vector[N] y;
}
parameters {
  real knot;
  vector[2] slope;
  real<lower=0> sigma;
}
model {
  vector[N] mu;
  knot ~ normal(0, 1);
  slope ~ normal(0, 1);
  sigma ~ exponential(1);
  for (n in 1 : N) {
    if (x[n] < knot) {
      mu[n] = slope[1] * (x[n] - knot);
    } else {
      mu[n] = slope[2] * (x[n] - knot);
    }
  }
  y ~ normal(mu, sigma);
  target += slope[1] > slope[2] ? -0.3 * square(slope[1] - slope[2]) : 0.0;
  if (knot > 0 && sigma < 1) target += -knot;
}
