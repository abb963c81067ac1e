// A tree: each place from that of its parent.
data {
  int N;
  array[N] int parent;
}
parameters {
  vector[N] e;
  real r;
}
transformed parameters {
  vector[N] x;
  x[1] = e[1];
  for (n in 2:N)
    x[n] = r * x[parent[n]] + e[n];
}
model {
  e ~ std_normal();
  r ~ std_normal();
  target += -0.05 * dot_self(x);
}
