// A table from its row before and its column before.
data {
  int T;
  int I;
}
parameters {
  matrix[T, I] e;
  real r;
  real q;
}
transformed parameters {
  matrix[T, I] x = e;
  for (t in 2:T)
    for (i in 2:I)
      x[t, i] = r * x[t - 1, i] + q * x[t, i - 1] + e[t, i];
}
model {
  to_vector(e) ~ std_normal();
  r ~ normal(0, .5);
  q ~ normal(0, .5);
  target += -0.01 * sum(square(x));
}
