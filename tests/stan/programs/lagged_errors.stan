// Errors of autoregressions and moving averages, as many back as the data say.
data {
  int N;
  vector[N] y;
  int Kar;
  int Kma;
  array[N] int lags;
}
parameters {
  vector[Kar] ar;
  vector[Kma] ma;
  real intercept;
  real<lower=0> sigma;
}
transformed parameters {
  matrix[N, 2] kept = rep_matrix(0, N, 2);
  vector[N] mean_of;
  {
    matrix[N, 2] Err = rep_matrix(0, N, 2);
    vector[N] err;
    vector[N] mu = rep_vector(intercept, N);
    for (n in 1:N) {
      mu[n] += Err[n, 1:Kma] * ma;
      err[n] = y[n] - mu[n];
      for (i in 1:lags[n]) {
        Err[n + 1, i] = err[n + 1 - i];
      }
      mu[n] += Err[n, 1:Kar] * ar;
    }
    kept = Err;
    mean_of = mu;
  }
}
model {
  ar ~ normal(0, 0.5);
  ma ~ normal(0, 0.5);
  sigma ~ exponential(1);
  y ~ normal(mean_of, sigma);
}
