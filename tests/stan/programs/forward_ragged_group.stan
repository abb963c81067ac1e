// A hidden Markov model for series of different lengths.
data {
  int G;
  array[G] int len;
  int N;
  array[N] int y;
  array[G] int start;
}
parameters {
  array[3] simplex[3] A;
  vector<lower=0, upper=1>[3] p;
}
model {
  for (g in 1:G) {
    vector[3] a = rep_vector(-log(3), 3);
    for (t in 1:len[g]) {
      vector[3] b;
      int at = start[g] + t - 1;
      for (k in 1:3) {
        vector[3] c;
        for (j in 1:3)
          c[j] = a[j] + log(A[j, k]);
        b[k] = log_sum_exp(c) + bernoulli_lpmf(y[at] | p[k]);
      }
      a = b;
    }
    target += log_sum_exp(a);
  }
}
