// Which way travellers choose, of those that are open to them.
data {
  int<lower=1> N;
  int<lower=2> K;
  int<lower=1> P;
  array[N] matrix[K, P] about;
  array[N, K] int<lower=0, upper=1> is_open;
  vector[N] income;
  array[N] int<lower=1, upper=K> chosen;
}
parameters {
  vector[P] beta;
  vector[K - 1] base_raw;
  vector[K - 1] by_income_raw;
}
transformed parameters {
  vector[K] base = append_row(0, base_raw);
  vector[K] by_income = append_row(0, by_income_raw);
}
model {
  beta ~ normal(0, 1);
  base_raw ~ normal(0, 2);
  by_income_raw ~ normal(0, 1);
  for (n in 1:N) {
    vector[K] worth = base + about[n] * beta + by_income * income[n];
    for (k in 1:K)
      if (!is_open[n, k]) worth[k] = -1e3;
    chosen[n] ~ categorical_logit(worth);
  }
}
generated quantities {
  array[N] real log_lik;
  for (n in 1:N) {
    vector[K] worth = base + about[n] * beta + by_income * income[n];
    log_lik[n] = worth[chosen[n]] - log_sum_exp(worth);
  }
}
