// A triangle, its diagonal, then the other triangle.
data {
  int N;
  vector[N] y;
}
parameters {
  vector[N] a;
}
transformed parameters {
  matrix[N, N] L = rep_matrix(0, N, N);
  for (i in 1:N) {
    for (j in 1:(i - 1)) {
      L[i, j] = a[i] * a[j];
    }
    L[i, i] = 1 + square(a[i]);
  }
  for (i in 1:N)
    for (j in i:N)
      L[i, j] += 0.1 * a[j];
}
model {
  a ~ std_normal();
  y ~ normal(L * a, 1);
}
