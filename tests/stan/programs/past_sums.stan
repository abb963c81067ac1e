// Recurrences that sum over all of their past, in lanes and alone.
functions {
  real weighted(vector x, vector w, int n) {
    return dot_product(head(x, n), reverse(w[1 : n]));
  }
}
data {
  int<lower=1> T;
  int<lower=1> M;
  int<lower=1> N0;
  vector[T] w;
  matrix[T, M] f;
  matrix[T, M] y;
}
transformed data {
  vector[T] w_rev = reverse(w);
}
parameters {
  vector<lower=0>[M] rate;
  vector[M] start;
  real<lower=0> sigma;
  real slope;
}
transformed parameters {
  matrix[T, M] x = rep_matrix(0, T, M);
  matrix[T, M] cumulated = rep_matrix(0, T, M);
  matrix[T, M] expected = rep_matrix(0, T, M);
  vector[T] alone;
  vector[T] own;
  row_vector[T] forth;
  for (m in 1 : M) {
    x[1 : N0, m] = rep_vector(start[m], N0);
    for (t in (N0 + 1) : T) {
      real past = dot_product(sub_col(x, 1, m, t - 1), tail(w_rev, t - 1));
      cumulated[t, m] = cumulated[t - 1, m] + x[t - 1, m];
      x[t, m] = rate[m] * (1 - 0.01 * cumulated[t, m]) * past;
    }
    expected[1, m] = 0.5 * x[1, m];
    for (t in 2 : T)
      expected[t, m] = dot_product(sub_col(x, 1, m, t - 1), tail(f[ : , m], t - 1));
  }
  alone[1] = start[1];
  for (t in 2 : T) {
    real past = 0;
    for (s in 1 : (t - 1)) past += alone[s] * exp(-slope * slope * (t - s));
    alone[t] = 0.3 * past + w[t];
  }
  own[1] = slope;
  for (t in 2 : T) {
    own[t] = 0.1 * own[t - 1] + w[t];
    own[t] = own[t] + 0.05 * sum(own[1 : t]) / t;
  }
  forth[T] = slope;
  for (s in 1 : (T - 1)) {
    int t = T - s;
    forth[t] = 0.2 * forth[(t + 1) : T] * head(w, s) + 0.1 * rate[1];
  }
}
model {
  rate ~ normal(1, 0.3);
  start ~ normal(0, 1);
  sigma ~ normal(0, 1);
  slope ~ normal(0, 1);
  for (m in 1 : M) y[ : , m] ~ normal(expected[ : , m], sigma);
  for (t in 1 : T) target += normal_lpdf(weighted(alone, w, t) | own[t], 1 + square(forth[t]));
}
