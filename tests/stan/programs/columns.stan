// Columns of parameters, read and written.
data { int N; int K; array[3] int pick; }
parameters { matrix[N, K] x; array[4] vector[K] v; array[2] matrix[N, K] z; }
transformed parameters {
  matrix[N, K] w = x;
  vector[N] c1 = x[:, 2];
  vector[N] c2 = col(x, 1);
  row_vector[K] r1 = row(x, 3);
  matrix[N, 3] s = x[:, pick];
  matrix[2, 3] t = x[2:3, pick];
  array[4] real e = v[:, 2];
  array[2] vector[N] cz = z[:, :, 1];
  array[2] real ez = z[:, 2, 1];
  array[3] vector[K] some = v[pick];
  for (k in 1:K) { w[:, k] = x[:, k] * k; }
  for (k in 1:K) { w[1:2, k] += x[3:4, k]; }
  w[:, 1] = c1; w[2, :] = x[1]; w[3, 1:2] = x[4, 2:3];
  w[pick, 2] = x[pick, 1];
}
model {
  to_vector(x) ~ std_normal();
  for (i in 1:4) v[i] ~ std_normal();
  for (i in 1:2) to_vector(z[i]) ~ std_normal();
  for (k in 1:K) { x[:, k] ~ normal(col(w, k), 1 + k); target += sum(z[1, :, k]) * 0.1; target += dot_product(col(z[2], k), x[, k]); }
  for (k in 1:K) for (n in 1:N) target += 0.01 * col(x, k)[n] * row(w, n)[k];
  for (n in 1:N) target += 0.1 * log_sum_exp(row(x, n)) + sum(w[n, 2:K]) * 0.1;
  target += sum(s) * sum(t) + e[3] * cz[2, 3] + ez[2] + sum(some[2]);
}
