// A Cholesky factor from partial correlations, with a counter.
data {
  int K;
}
transformed data {
  int M = K * (K - 1) %/% 2;
}
parameters {
  vector<lower=-1, upper=1>[M] z;
}
transformed parameters {
  matrix[K, K] L = rep_matrix(0, K, K);
  {
    int c = 1;
    L[1, 1] = 1;
    for (i in 2:K) {
      real left = 1;
      for (j in 1:(i - 1)) {
        L[i, j] = z[c] * sqrt(left);
        left -= square(L[i, j]);
        c += 1;
      }
      L[i, i] = sqrt(left);
    }
  }
}
model {
  z ~ normal(0, 0.5);
  L ~ lkj_corr_cholesky(2.0);
}
