// Regressions as one density, each kind.
data {
  int N;
  int K;
  matrix[N, K] x;
  vector[N] y;
  array[N] int<lower=0, upper=1> b;
  array[N] int<lower=0> n;
  array[N] int<lower=1, upper=3> o;
  array[N] int<lower=1> total;
}
parameters {
  real alpha;
  vector[N] alphas;
  vector[K] beta;
  real<lower=0> sigma;
  ordered[2] c;
  matrix[K, 3] B;
}
model {
  alpha ~ normal(0, 1);
  alphas ~ normal(0, 1);
  beta ~ normal(0, 1);
  sigma ~ lognormal(0, 1);
  c ~ normal(0, 1);
  to_vector(B) ~ normal(0, 1);
  y ~ normal_id_glm(x, alpha, beta, sigma);
  y ~ normal_id_glm(x, alphas, beta, sigma);
  b ~ bernoulli_logit_glm(x, alpha, beta);
  n ~ poisson_log_glm(x, alphas, beta);
  n ~ neg_binomial_2_log_glm(x, alpha, beta, sigma);
  o ~ ordered_logistic_glm(x, beta, c);
  o ~ categorical_logit_glm(x, [alpha, 0, 1]', B);
  b ~ binomial_logit_glm(total, x, alpha, beta);
}
