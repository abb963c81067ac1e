// Distributions of the program: _lpdf with a bar and with a tilde, _lpmf, _lp, cut ones, and a Jacobian by hand.
functions {
  real half_gumbel_lpdf(real y, real mu, real beta) {
    real z = (y - mu) / beta;
    return -log(beta) - (z + exp(-z));
  }
  real half_gumbel_lcdf(real y, real mu, real beta) {
    return -exp(-(y - mu) / beta);
  }
  real half_gumbel_lccdf(real y, real mu, real beta) {
    return log1m_exp(-exp(-(y - mu) / beta));
  }
  real geometric_lpmf(array[] int n, real p) {
    return size(n) * log(p) + sum(n) * log1m(p);
  }
  void standard_lp(vector z) {
    z ~ std_normal();
    target += 0;
  }
  real shifted_lp(real raw, real by) {
    target += -0.5 * square(raw);
    return raw + by;
  }
}
data {
  int N;
  array[N] int<lower=0> counts;
  real<lower=0> y;
}
parameters {
  vector[2] z;
  real<lower=0, upper=1> p;
  real raw;
  real log_scale;
  real<lower=0> w;
}
model {
  real by = shifted_lp(raw, 0.5);
  real scale = exp(log_scale);
  target += log_scale;
  scale ~ gamma(2, 1);
  standard_lp(z);
  counts ~ geometric(p);
  y ~ half_gumbel(by, scale) T[0, ];
  w ~ half_gumbel(z[1], 1.5);
  target += half_gumbel_lpdf(w | z[2], 2) + half_gumbel_lupdf(y | 0, scale);
  target += 0.1 * target();
}
