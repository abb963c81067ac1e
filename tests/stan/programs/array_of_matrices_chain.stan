// A matrix from the one before, then an element and a row of it.
data {
  int T;
}
parameters {
  matrix[2, 2] A;
  vector[T] u;
}
transformed parameters {
  array[T] matrix[2, 2] M;
  M[1] = A;
  for (t in 2:T) {
    M[t] = M[t - 1] * A * 0.5;
    M[t][1, 2] = u[t];
    M[t, 2] += u[t] * 0.1;
  }
}
model {
  to_vector(A) ~ std_normal();
  u ~ std_normal();
  for (t in 1:T)
    target += 0.1 * sum(M[t]);
}
