// Writes to places in any order, also to the same one twice.
data {
  int N;
  array[N] int idx;
  array[N] int rep;
}
parameters {
  vector[N] a;
}
transformed parameters {
  vector[N] x;
  vector[N] w = rep_vector(0, N);
  vector[N] v = rep_vector(1, N);
  for (n in 1:N)
    x[idx[n]] = a[n] * n;
  for (n in 1:N)
    w[rep[n]] = a[n] + n;
  for (n in 1:N)
    v[rep[n]] *= a[n];
  for (n in 1:N)
    w[rep[n]] += square(a[n]);
}
model {
  a ~ std_normal();
  target += -0.01 * dot_self(x) - 0.01 * dot_self(w) + sum(v);
}
