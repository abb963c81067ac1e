// Overdispersed counts: three ways to write the same family.
data {
  int<lower=0> N;
  vector[N] x;
  array[N] int<lower=0> y;
}
parameters {
  real a;
  real b;
  real<lower=0> phi;
}
model {
  a ~ normal(0, 2);
  b ~ normal(0, 1);
  phi ~ gamma(2, 0.5);
  y ~ neg_binomial_2_log(a + b * x, phi);
  target += 0.1 * neg_binomial_2_lpmf(y | exp(a + b * x), phi);
  target += 0.1 * neg_binomial_lpmf(y | phi, phi / exp(a));
}
generated quantities {
  real tail = neg_binomial_2_lccdf(3 | exp(a), phi);
  real head = exp(neg_binomial_2_lcdf(3 | exp(a), phi));
}
