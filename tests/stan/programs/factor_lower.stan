// Loadings below a diagonal, filled by a counter.
data {
  int N;
  int P;
  int D;
  array[N] vector[P] y;
}
transformed data {
  int M = D * (P - D) + D * (D - 1) / 2;
}
parameters {
  vector[M] Lt;
  vector<lower=0>[D] Ld;
  vector<lower=0>[P] psi;
}
transformed parameters {
  cholesky_factor_cov[P, D] L;
  {
    int idx = 0;
    for (i in 1:D)
      for (j in (i + 1):D)
        L[i, j] = 0;
    for (j in 1:D) {
      L[j, j] = Ld[j];
      for (i in (j + 1):P) {
        idx += 1;
        L[i, j] = Lt[idx];
      }
    }
  }
}
model {
  Lt ~ std_normal();
  Ld ~ lognormal(0, 1);
  psi ~ lognormal(0, 1);
  y ~ multi_normal(rep_vector(0, P), L * L' + diag_matrix(psi));
}
