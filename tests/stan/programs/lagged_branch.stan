// A recurrence whose first round is a branch.
data {
  int N;
  vector[N] y;
}
parameters {
  vector[N] e;
  real r;
}
transformed parameters {
  vector[N] x;
  for (n in 1:N) {
    if (n == 1)
      x[n] = e[n];
    else
      x[n] = r * x[n - 1] + e[n];
  }
}
model {
  e ~ std_normal();
  r ~ std_normal();
  y ~ normal(x, 1);
}
