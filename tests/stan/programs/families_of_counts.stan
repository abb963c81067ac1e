// One density of each family of integers.
data {
  int N;
  array[N] int<lower=0> n;
  array[N] int<lower=1> size_of;
  array[N] int<lower=0, upper=1> b;
}
parameters {
  real<lower=0, upper=1> p;
  real<lower=0> a;
  real<lower=0> c;
  real l;
}
model {
  a ~ gamma(2, 1);
  c ~ gamma(2, 1);
  l ~ normal(0, 1);
  n ~ binomial(size_of, p);
  n ~ binomial_logit(size_of, l);
  n ~ beta_binomial(size_of, a, c);
  n ~ poisson(a);
  n ~ neg_binomial(a, c);
  b ~ bernoulli(p);
  b ~ bernoulli_logit(l);
  3 ~ discrete_range(1, 6);
  2 ~ hypergeometric(4, 5, 3);
  target += poisson_lcdf(n | a) + binomial_lcdf(2 | 5, p) + poisson_lccdf(3 | a) + neg_binomial_2_lcdf(4 | a, c);
  target += 0.1 * poisson_log_lpmf(n | l) + 0.1 * beta_binomial_lccdf(2 | 6, a, c) + bernoulli_lccdf(0 | p);
}
generated quantities {
  int drawn = poisson_rng(a);
  int doubled = drawn * 2;
  real tail = 1 - poisson_cdf(2 | a);
}
