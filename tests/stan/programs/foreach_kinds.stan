// Loops over elements of everything.
data {
  int N;
  array[N] int k;
  matrix[2, 3] m;
}
parameters {
  vector[N] x;
  array[N] vector[2] a;
}
model {
  real s = 0;
  real last = 0;
  for (v in x) {
    s += v * last;
    last = v;
  }
  for (w in a)
    s += sum(w) * w[1];
  for (e in m)
    s += e * x[1] - last;
  for (i in k)
    s += x[i] * i;
  for (v in x[2:5])
    last = 0.5 * last + v;
  for (v in {x[1], x[2], s})
    last += v;
  target += 0.01 * s + 0.1 * last;
  x ~ std_normal();
  for (w in a)
    w ~ std_normal();
}
