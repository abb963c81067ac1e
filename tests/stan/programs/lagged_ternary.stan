// Neighbours that are outside in the first and last rounds.
data {
  int N;
  vector[N] y;
}
parameters {
  vector[N] x;
  real r;
}
model {
  for (n in 1:N) {
    real before = n > 1 ? x[n - 1] : 0;
    real after = n == N ? 0 : x[n + 1];
    if (n > 2 && x[n - 2] > 0)
      target += x[n];
    y[n] ~ normal(r * before + after, 1);
  }
  x ~ std_normal();
  r ~ std_normal();
}
