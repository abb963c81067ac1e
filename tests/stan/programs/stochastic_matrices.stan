// Matrices whose columns or rows sum to one, and those that sum to zero.
data {
  int N;
  array[N] int<lower=1, upper=3> from_state;
  array[N] int<lower=1, upper=3> to_state;
}
parameters {
  row_stochastic_matrix[3, 3] move;
  column_stochastic_matrix[3, 2] emit;
  sum_to_zero_matrix[3, 2] effect;
}
model {
  for (i in 1 : 3) move[i]' ~ dirichlet([1, 2, 2]');
  for (n in 1 : N) target += log(move[from_state[n], to_state[n]]) + 0.1 * log(emit[to_state[n], 1]);
  emit[ : , 2] ~ dirichlet([2, 2, 1]');
  to_vector(effect) ~ normal(0, 1);
  target += 0.3 * effect[1, 1] * effect[2, 2];
}
