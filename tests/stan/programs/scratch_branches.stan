// Scratch paper under conditions on data and on parameters, and in loops of different lengths.
data {
  int N;
  array[N] int m;
  vector[N] y;
}
parameters {
  vector[4] a;
  real b;
}
model {
  vector[4] w;
  matrix[4, 2] table;
  a ~ normal(0, 1);
  b ~ normal(0, 1);
  for (n in 1:N) {
    w[1] = a[1] * y[n];
    for (k in 2:m[n]) w[k] = w[k - 1] * 0.5 + a[k];
    if (m[n] < 4) for (k in (m[n] + 1):4) w[k] = b * k;
    for (k in 1:4) {
      table[k, 1] = w[k];
      table[k, 2] = w[5 - k] + b;
    }
    if (b > 0) {
      table[1, 1] = b * y[n];
    } else {
      table[1, 1] = b - y[n];
    }
    target += log_sum_exp(to_vector(table)) - 0.1 * sum(table[, 2]);
  }
}
