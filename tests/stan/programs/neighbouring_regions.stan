// Cases by region: neighbours are alike, and part of the rest is noise.
data {
  int<lower=1> N;
  int<lower=1> E;
  array[E] int<lower=1, upper=N> one;
  array[E] int<lower=1, upper=N> other;
  array[N] int<lower=0> cases;
  vector<lower=0>[N] expected;
}
transformed data {
  vector[N] log_expected = log(expected);
}
parameters {
  real level;
  real<lower=0> spread;
  real<lower=0, upper=1> shared;
  vector[N] alone;
  sum_to_zero_vector[N] alike;
}
transformed parameters {
  vector[N] effect = spread * (sqrt(1 - shared) * alone + sqrt(shared) * alike);
}
model {
  target += -0.5 * dot_self(alike[one] - alike[other]);
  alone ~ std_normal();
  level ~ normal(0, 1);
  spread ~ normal(0, 1);
  shared ~ beta(0.5, 0.5);
  cases ~ poisson_log(log_expected + level + effect);
}
generated quantities {
  vector[N] ratio = exp(level + effect);
  array[N] int is_high;
  for (n in 1:N) is_high[n] = ratio[n] > 1.2;
}
