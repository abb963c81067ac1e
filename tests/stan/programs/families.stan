// One density of each family of reals, by functions and by statements.
data {
  int N;
  vector<lower=0, upper=1>[N] u;
  vector<lower=0>[N] y;
  vector[N] x;
}
parameters {
  real a;
  real<lower=0> s;
  real<lower=0.5> t;
  real<lower=0.1, upper=0.9> p;
}
model {
  a ~ normal(0, 1);
  s ~ exponential(1);
  t ~ gamma(2, 1);
  x ~ skew_normal(a, s, t);
  x ~ exp_mod_normal(a, s, t);
  x ~ gumbel(a, s);
  x ~ logistic(a, s);
  x ~ double_exponential(a, s);
  x ~ skew_double_exponential(a, s, p);
  x ~ von_mises(a, t);
  y ~ chi_square(t);
  y ~ inv_chi_square(t);
  y ~ scaled_inv_chi_square(t, s);
  y ~ frechet(t, s);
  y ~ rayleigh(s);
  y ~ loglogistic(s, t);
  y ~ weibull(t, s);
  y ~ pareto_type_2(-1, s, t);
  y ~ inv_gamma(t, s);
  u ~ beta(t, s);
  u ~ beta_proportion(p, t);
  u ~ uniform(0, 1 + s);
  target += cauchy_lcdf(x | a, s) + gumbel_lccdf(x | a, s) + double_exponential_lcdf(x | a, s) + chi_square_lcdf(y | t);
  target += inv_gamma_lccdf(y | t, s) + frechet_lcdf(y | t, s) + rayleigh_lccdf(y | s) + pareto_type_2_lcdf(y | -1, s, t);
}
