// Rounds that are cut short under conditions on parameters, also in nested blocks and loops.
data {
  int N;
  int K;
  matrix[N, K] u;
}
parameters {
  vector[N] x;
  real a;
}
transformed parameters {
  vector[N] w;
  matrix[N, K] q = rep_matrix(0, N, K);
  for (n in 1 : N) {
    w[n] = 1;
    if (x[n] < a) continue;
    w[n] = log(x[n] - a + 1e-3);
    {
      if (w[n] > 0)
        continue;
      else
        w[n] *= 2;
    }
    w[n] += 3;
  }
  for (n in 1 : N) {
    for (k in 1 : K) {
      if (u[n, k] > x[n]) continue;
      q[n, k] = sqrt(x[n] - u[n, k]) + a;
    }
    if (a > x[n]) continue;
    q[n, 1] -= 1;
  }
}
model {
  real kept = 0;
  x ~ std_normal();
  a ~ std_normal();
  for (n in 1 : N) {
    if (u[n, 1] > 0) continue;
    if (w[n] > 2) continue;
    target += -0.2 * square(w[n]);
    kept += w[n];
  }
  target += -0.01 * square(kept) - 0.1 * sum(q);
}
