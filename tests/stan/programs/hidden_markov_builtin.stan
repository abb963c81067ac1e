// The forward algorithm of the language beside one by hand; hidden rates, transitions by an array.
data {
  int T;
  int K;
  array[T] int y;
}
parameters {
  array[K] simplex[K] rows;
  simplex[K] first;
  positive_ordered[K] rate;
}
transformed parameters {
  matrix[K, K] Gamma;
  matrix[K, T] log_omega;
  for (k in 1 : K) {
    Gamma[k] = rows[k]';
    for (t in 1 : T) log_omega[k, t] = poisson_lpmf(y[t] | rate[k]);
  }
}
model {
  vector[K] alpha = log(first) + log_omega[ : , 1];
  rate ~ gamma(2, 0.3);
  for (t in 2 : T) {
    vector[K] next;
    for (k in 1 : K) next[k] = log_sum_exp(alpha + log(Gamma[ : , k])) + log_omega[k, t];
    alpha = next;
  }
  target += log_sum_exp(alpha);
  target += 0.5 * hmm_marginal(log_omega, Gamma, first);
}
