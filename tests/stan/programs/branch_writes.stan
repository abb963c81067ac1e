// Branches on parameters that write to several places of what other rounds write too, and read there.
data {
  int N;
  vector[N] y;
}
parameters {
  real a;
  real b;
}
transformed parameters {
  matrix[N, 3] x = rep_matrix(0.1, N, 3);
  matrix[N, N] z = rep_matrix(0.2, N, N);
  vector[N] r = rep_vector(0, N);
  for (i in 1:N) {
    if (a > y[i]) {
      x[i, 1] = a;
      x[i, 2] = 2 * a + x[i, 3];
    } else if (b > y[i]) {
      x[i, 2] = 3;
      x[i, 3] = x[i, 2] * b;
    } else {
      x[i, 2] = b;
    }
    for (j in 1:(i - 1)) {
      if (a * y[j] > b) {
        z[i, j] = a * j;
        z[j, i] = z[i, j] + y[i];
      } else {
        z[j, i] = b;
      }
    }
  }
  for (i in 2:N) {
    r[i] = 0.5 * r[i - 1] + y[i];
    if (r[i] > a) {
      x[i, 1] += r[i - 1];
      x[i, 3] = r[i];
    }
  }
}
model {
  a ~ normal(0, 1);
  b ~ normal(0, 1);
  target += -0.1 * sum(square(x)) - 0.1 * sum(square(z));
  r ~ normal(a, 2);
}
