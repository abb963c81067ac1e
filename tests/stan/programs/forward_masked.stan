// States that move in some steps alone; what is seen counts in all of them.
data {
  int T;
  array[T] int moves;
  matrix[T, 2] seen;
  matrix[2, 2] way;
}
parameters {
  vector[2] level;
}
model {
  vector[2] state = [0, -1]';
  level ~ normal(0, 1);
  for (t in 1 : T) {
    vector[2] next = state;
    if (moves[t] == 1) {
      next[1] = log_sum_exp(state + way[ : , 1]);
      next[2] = log_sum_exp(state + way[ : , 2]);
    }
    next[1] += seen[t, 1] + level[1];
    next[2] += seen[t, 2] + level[2];
    state = next;
  }
  target += log_sum_exp(state);
}
