// A hidden Markov model for each of several series.
data {
  int G;
  int T;
  array[G, T] int y;
}
parameters {
  array[2] simplex[2] A;
  array[2] real<lower=0, upper=1> p;
}
model {
  for (g in 1:G) {
    vector[2] a = [log(0.5), log(0.5)]';
    for (t in 1:T) {
      vector[2] b;
      for (k in 1:2)
        b[k] = log_sum_exp(a[1] + log(A[1, k]), a[2] + log(A[2, k]))
               + bernoulli_lpmf(y[g, t] | p[k]);
      a = b;
    }
    target += log_sum_exp(a);
  }
}
