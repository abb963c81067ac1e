// A row, then an element of it, in the same round.
data {
  int N;
}
parameters {
  vector[4] z;
  vector[N] x;
}
transformed parameters {
  array[N] vector[4] c;
  matrix[N, 4] m;
  for (i in 1:N) {
    c[i] = 0.5 * z;
    c[i][3] += i * 0.1;
    c[i, 1] *= x[i];
  }
  for (i in 1:N) {
    m[i] = c[i]';
    m[i, 2] -= x[i];
    m[i][4] = m[i, 2] + m[i, 1];
  }
}
model {
  z ~ std_normal();
  x ~ std_normal();
  target += -0.1 * sum(square(m));
}
