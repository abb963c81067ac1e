// Rows, columns, elements and matrices of lists.
data {
  int N;
  int K;
}
parameters {
  array[N] vector[K] b;
  matrix[K, K] m;
}
transformed parameters {
  matrix[N, K] x;
  matrix[K, N] z;
  array[N] row_vector[K] r;
  array[N] matrix[K, K] c;
  for (n in 1:N)
    x[n] = b[n]';
  for (n in 1:N)
    z[:, n] = b[n] + 1;
  for (n in 1:N)
    r[n] = b[n]' * m;
  for (n in 1:N)
    c[n] = b[n] * b[n]';
  for (n in 1:N)
    for (k in 1:K)
      c[n][k, k] += x[n][k];
}
model {
  for (n in 1:N)
    b[n] ~ std_normal();
  to_vector(m) ~ std_normal();
  for (n in 1:N)
    target += -0.1 * sum(c[n]) - 0.01 * dot_self(r[n])
              + 0.1 * sum(z[:, n]) * x[n, 1];
}
