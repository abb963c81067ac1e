// A table from its diagonal neighbour.
data {
  int T;
  int I;
  matrix[T, I] y;
}
parameters {
  matrix[T, I] e;
  real r;
}
transformed parameters {
  matrix[T, I] x = e;
  for (t in 2:T)
    for (i in 2:I)
      x[t, i] = r * x[t - 1, i - 1] + e[t, i];
}
model {
  to_vector(e) ~ std_normal();
  r ~ normal(0, .5);
  to_vector(y) ~ normal(to_vector(x), 1);
}
