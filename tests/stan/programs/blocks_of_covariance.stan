// Blocks of a matrix, along the diagonal and on both sides of it; corners by lists that differ by round.
data {
  int K;
  int m;
  int groups;
  vector[K * m] y;
  array[groups, m] int seen;
}
parameters {
  real<lower=0> a;
  real<lower=0> b;
  cov_matrix[m] S;
}
model {
  matrix[K * m, K * m] C;
  matrix[K * m, K * m] E = rep_matrix(0, K * m, K * m);
  for (i in 1:K) {
    for (j in 1:i) {
      matrix[m, m] B = S * exp(-a * (i - j)) * b;
      C[((i - 1) * m + 1):(i * m), ((j - 1) * m + 1):(j * m)] = B;
      if (i != j)
        C[((j - 1) * m + 1):(j * m), ((i - 1) * m + 1):(i * m)] = B';
    }
  }
  for (i in 1:(K - 1)) {
    int from = (i - 1) * m + 1;
    E[from:(from + m), from:(from + 1)] = rep_matrix(a * i, m + 1, 2);
  }
  y ~ multi_normal(rep_vector(0, K * m), add_diag(C, 1));
  for (g in 1:groups)
    target += -0.1 * sum(square(C[seen[g], seen[g]])) - 0.01 * sum(E[seen[g], 2:4]);
  a ~ exponential(1);
  b ~ exponential(1);
  S ~ inv_wishart(m + 2, identity_matrix(m));
}
