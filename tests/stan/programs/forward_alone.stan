// A change point: the state before it goes on alone, faint for a while.
data {
  int T;
  matrix[T, 2] seen;
}
parameters {
  vector[2] level;
}
model {
  vector[2] state = [0, -1]';
  level ~ normal(0, 1);
  for (t in 1 : T) {
    vector[2] next;
    next[1] = state[1] - 0.1 + seen[t, 1] + level[1];
    next[2] = log_sum_exp(state[1] - 2.3, state[2]) + seen[t, 2] + level[2];
    state = next;
  }
  target += log_sum_exp(state);
}
