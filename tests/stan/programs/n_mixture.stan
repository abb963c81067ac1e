// Sums over counts whose number differs by site.
data {
  int S;
  int V;
  array[S, V] int y;
  array[S] int top;
  int K;
}
parameters {
  real<lower=0> lam;
  real<lower=0, upper=1> p;
}
model {
  for (s in 1:S) {
    vector[K - top[s] + 1] lp;
    for (j in 1:(K - top[s] + 1)) {
      int n = top[s] + j - 1;
      lp[j] = poisson_lpmf(n | lam) + binomial_lpmf(y[s] | n, p);
    }
    target += log_sum_exp(lp);
  }
  lam ~ exponential(0.1);
}
