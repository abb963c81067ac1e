// Tables of which rounds need what earlier ones wrote: row by row from both ends, by diagonals, by neighbours.
data {
  int p;
  int n;
  int m;
  array[n] int u;
  array[m] int v;
  vector[n] x;
}
parameters {
  vector<lower=-0.9, upper=0.9>[p] partial;
  real<lower=0> gap;
  vector[3] w;
}
transformed parameters {
  matrix[p, p] P = rep_matrix(0, p, p);
  matrix[n, n] T = rep_matrix(0, n, n);
  matrix[n + 1, m + 1] D;
  P[1, 1] = partial[1];
  for (k in 2:p) {
    P[k, k] = partial[k];
    for (i in 1:(k - 1))
      P[k, i] = P[k - 1, i] - partial[k] * P[k - 1, k - i];
  }
  for (i in 1:n)
    T[i, i] = w[1] * x[i];
  for (len in 2:n) {
    for (i in 1:(n - len + 1)) {
      int j = i + len - 1;
      T[i, j] = log_sum_exp(T[i, j - 1], T[i + 1, j]) - gap * abs(x[i] - x[j]);
    }
  }
  D[1, 1] = 0;
  for (i in 1:n)
    D[i + 1, 1] = D[i, 1] - gap;
  for (j in 1:m)
    D[1, j + 1] = D[1, j] - gap;
  for (i in 1:n)
    for (j in 1:m)
      D[i + 1, j + 1] = log_sum_exp({D[i, j] + (u[i] == v[j] ? w[u[i]] : w[3]),
                                     D[i, j + 1] - gap, D[i + 1, j] - gap});
}
model {
  gap ~ exponential(1);
  w ~ normal(0, 1);
  target += 0.1 * T[1, n] + D[n + 1, m + 1] - sum(square(P));
}
