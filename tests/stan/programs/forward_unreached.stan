// No state leads to the last one: it cannot be after the first step, and the slopes are those of the others.
data {
  int T;
  int K;
  matrix[T, K] seen;
  matrix[K, K] way;
}
parameters {
  vector[K] level;
}
model {
  vector[K] state = seen[1]' - log(K);
  level ~ normal(0, 1);
  for (t in 2 : T) {
    vector[K] next;
    for (k in 1 : K)
      next[k] = log_sum_exp(state + log(way[ : , k])) + seen[t, k] + level[k];
    state = next;
  }
  target += log_sum_exp(state);
}
