// A long loop whose rounds read, at places that the data tell, what earlier rounds wrote: it stays a loop, which
// changes what it carries where that lies. Residuals of a moving average with gaps in its history.
data {
  int N;
  int K;
  vector[N] y;
  array[N] int known;
  array[N] int back;
}
parameters {
  vector[K] ma;
  real level;
  real<lower=0> sigma;
}
transformed parameters {
  vector[N] mu = rep_vector(level, N);
  vector[N] residual;
  matrix[N + 1, K] lagged = rep_matrix(0, N + 1, K);
  for (n in 1 : N) {
    mu[n] += lagged[n, 1 : K] * ma;
    residual[n] = y[n] - mu[n];
    for (i in 1 : known[n])
      lagged[n + 1, i] = residual[n + 1 - back[n]] / i;
  }
}
model {
  ma ~ normal(0, 0.1);
  level ~ normal(0, 2);
  sigma ~ exponential(1);
  y ~ normal(mu, sigma);
}
