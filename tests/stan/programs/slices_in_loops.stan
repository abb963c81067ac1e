// Slices and lists of places on both sides, in lanes and in a recurrence.
data {
  int N;
  int K;
  array[N, 3] int pick;
}
parameters {
  matrix[N, K] m;
}
transformed parameters {
  matrix[N, K] x = m;
  for (n in 1:N)
    x[n, pick[n]] = m[n, 1:3];
  for (n in 1:N)
    x[n, 2:4] += 0.5 * m[n, pick[n]];
  for (n in 2:N)
    x[n, 1:2] = 0.3 * x[n - 1, 2:3] + m[n, 1:2];
}
model {
  to_vector(m) ~ std_normal();
  target += -0.1 * sum(square(x));
}
