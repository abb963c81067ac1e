// Integrals between bounds of all kinds, in lanes of a loop too.
functions {
  real bell(real x, real xc, array[] real theta, array[] real x_r, array[] int x_i) {
    return exp(-0.5 * square((x - theta[1]) / theta[2])) * x_r[x_i[1]];
  }
  real edges(real x, real xc, real a, real b) {
    real left = xc < 0 ? -xc : x;
    real right = xc > 0 ? xc : 1 - x;
    return pow(left, a - 1) * pow(right, b - 1);
  }
  real tail(real x, real xc, real rate) {
    return x > 1 ? exp(-rate * x) / x : exp(-rate);
  }
  real smooth(real x, real xc, vector p) {
    return log1p_exp(p[1] * x) * cos(p[2] * x);
  }
}
data {
  int N;
  vector[N] ends;
}
parameters {
  real mu;
  real<lower=0.2> sigma;
  real<lower=0.2> a;
  vector[2] p;
}
transformed parameters {
  real all_of = integrate_1d(bell, negative_infinity(), positive_infinity(), {mu, sigma}, {0.5, 2.0}, {2});
  real below = integrate_1d(bell, negative_infinity(), mu + 0.3, {mu, sigma}, {0.5, 2.0}, {1}, 1e-9);
  real between = integrate_1d_double_exponential(edges, 0, 1, a, 1.7);
  real both_moves = integrate_1d_gauss_kronrod(smooth, -abs(mu), sigma, p);
  vector[N] parts;
  for (n in 1 : N) {
    parts[n] = integrate_1d_double_exponential_tol(smooth, 0.1, ends[n], 1e-9, 1e-12, 12, p * n);
  }
}
model {
  target += log(all_of) - log(below) + log(between) + 0.3 * both_moves - 0.5 * dot_self(p);
  target += integrate_1d_double_exponential(tail, 1, positive_infinity(), sigma + 0.1);
  target += -square(sum(parts));
  mu ~ normal(0, 1);
  sigma ~ lognormal(0, 0.5);
  a ~ gamma(3, 2);
}
