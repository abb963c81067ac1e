// Visits to a doctor: whether there were any, and how many.
data {
  int<lower=1> N;
  int<lower=1> P;
  matrix[N, P] x;
  array[N] int<lower=0> visits;
}
transformed data {
  int some = 0;
  for (n in 1:N) some += visits[n] > 0;
  array[some] int rows_with;
  {
    int at = 0;
    for (n in 1:N) {
      if (visits[n] == 0) continue;
      at += 1;
      rows_with[at] = n;
    }
  }
}
parameters {
  real any_level;
  vector[P] any_by;
  real count_level;
  vector[P] count_by;
  real<lower=0> spread;
}
model {
  any_level ~ normal(0, 2);
  any_by ~ normal(0, 1);
  count_level ~ normal(0, 2);
  count_by ~ normal(0, 1);
  spread ~ exponential(1);
  for (n in 1:N) target += bernoulli_logit_lpmf(visits[n] > 0 | any_level + x[n] * any_by);
  {
    vector[some] eta = count_level + x[rows_with] * count_by;
    target += neg_binomial_2_log_lpmf(visits[rows_with] | eta, spread);
    for (i in 1:some) target += -log1m_exp(neg_binomial_2_log_lpmf(0 | eta[i], spread));
  }
}
