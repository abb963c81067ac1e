// Three axes, read and written in other orders, with rows of the round before.
data {
  int A;
  int B;
  int C;
  array[A, B, C] real y;
}
parameters {
  array[A, B, C] real x;
}
transformed parameters {
  array[A, B, C] real z;
  for (a in 1:A)
    for (b in 1:B)
      for (c in 1:C)
        z[a, b, c] = x[a][b][c] + (a > 1 ? z[a - 1, b, c] : 0) * 0.5;
  for (c in 1:C)
    for (a in 1:A)
      z[a, 1, c] *= x[A - a + 1, B, c];
  array[C, A] real t;
  for (a in 1:A)
    t[:, a] = z[a, 2];
}
model {
  for (a in 1:A) {
    for (b in 1:B)
      x[a, b] ~ std_normal();
    to_array_1d(y[a]) ~ normal(to_array_1d(z[a]), 1);
  }
  target += 0.1 * sum(to_array_1d(t));
}
