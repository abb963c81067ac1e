// Sums and log_sum_exp of few numbers that were written one by one, some of them minus infinity.
data {
  int N;
  vector[N] y;
  array[N] int kind;
}
parameters {
  vector[3] mu;
  real<lower=0, upper=1> p;
}
transformed parameters {
  vector[4] parts;
  real total;
  parts[1] = p;
  parts[2] = mu[1] * p;
  parts[3] = 2;
  parts[4] = square(mu[3]);
  total = sum(parts) + log_sum_exp(parts) + sum(parts[2:3]);
}
model {
  vector[3] before = [log(p), log1m(p), negative_infinity()]';
  mu ~ normal(0, 2);
  p ~ beta(2, 2);
  target += -0.1 * total;
  for (n in 1:N) {
    vector[3] lp;
    array[2] real two;
    lp[1] = log(p) + normal_lpdf(y[n] | mu[1], 1);
    lp[2] = log1m(p) + normal_lpdf(y[n] | mu[2], 1);
    lp[3] = kind[n] == 1 ? negative_infinity() : mu[3] - 3;
    two[1] = mu[1] * y[n];
    two[2] = p;
    target += log_sum_exp(lp) + 0.01 * sum(two);
  }
  for (n in 1:N) {
    vector[3] after;
    for (k in 1:3) {
      vector[3] acc;
      for (j in 1:3) acc[j] = before[j] + log(j == k ? 0.6 : 0.2) + normal_lpdf(y[n] | mu[k], 1);
      after[k] = log_sum_exp(acc);
    }
    before = after;
  }
  target += log_sum_exp(before);
}
