// Elements of a matrix and of a vector that a while loop writes and reads again in the same round, beside some
// that it adds to.
data {
  int N;
}
parameters {
  vector[N] x;
  real<lower=0> s;
}
transformed parameters {
  matrix[N, 5] table = rep_matrix(0.1, N, 5);
  vector[N + 20] sums = rep_vector(0.5, N + 20);
  {
    int n = 1;
    while (n <= N && s > 0) {
      int column = n % 5 + 1;
      table[n, column] = tanh(x[n] * s) + 0.2 * sums[n];
      sums[n + 1] += table[n, column];
      table[n, 1] = sin(table[n, column]) + table[n, 1];
      sums[n + 2] = sums[n + 1] * 0.5 + 0.1 * square(table[n, 1]);
      n += 1;
    }
  }
}
model {
  x ~ std_normal();
  s ~ exponential(1);
  target += -0.01 * sum(square(sums)) + 0.1 * sum(table);
}
