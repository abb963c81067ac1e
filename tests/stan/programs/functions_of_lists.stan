// Functions that make, cut, sort and join containers.
data {
  int N;
  vector[N] x;
  array[N] int k;
}
transformed data {
  array[N] int order = sort_indices_desc(x);
  array[N] int up = sort_asc(k);
  array[2] int shape = dims(rep_matrix(0, 2, 3));
  array[2 * N] int twice = append_array(k, reverse(k));
  vector[N] cum = cumulative_sum(x);
  array[N] int kcum = cumulative_sum(k);
  real mid = quantile(x, 0.5);
  int place = rank(x, 2);
  array[3] int steps = linspaced_int_array(3, 1, 5);
  array[3, 2] real table = rep_array(1.5, 3, 2);
  array[N] int hot = one_hot_int_array(N, 2);
  matrix[2, 3] grid = to_matrix({{1, 2, 3}, {4, 5, 6}});
}
parameters {
  vector[N] b;
  matrix[2, 3] m;
}
model {
  vector[N] s = sort_asc(b);
  row_vector[6] flat_m = to_row_vector(m);
  vector[N] c = cumulative_sum(b);
  array[N] real r = reverse(to_array_1d(b));
  array[2, 3] real am = to_array_2d(m);
  b ~ normal(x[order], 1);
  to_vector(m) ~ normal(to_vector(grid), 2);
  target += 0.1 * s[1] + 0.1 * dot_product(head(s, 2), tail(c, 2)) + 0.1 * flat_m[2] * flat_m[3] - 0.01 * dot_self(c);
  target += 0.1 * r[1] * am[2, 3] + 0.1 * sum(append_row(b, 1)[2 : ]) + 0.01 * sum(append_col(m, m)[ : , 2 : 4]);
  target += 0.01 * up[1] * b[1] + 0.01 * shape[2] * b[2] + 0.001 * sum(twice) * b[3] + 0.01 * cum[N] * b[1] + 0.001 * kcum[N] * b[1];
  target += 0.01 * (mid + place + sum(steps) + sum(to_array_1d(table)) + num_elements(table) + size(k)) * b[2] + 0.01 * dot_product(to_vector(hot), b);
  target += 0.1 * dot_product(softmax(b), log_softmax(x)) + 0.1 * mean(m) - 0.1 * sd(b) - 0.1 * variance(m) + 0.01 * sum(col(m, 2)) + 0.01 * row(m, 1)[3];
  target += 0.01 * sum(rep_row_vector(b[1], 3) .* m[1]) + 0.01 * sum(rep_matrix(b, 2)[ : , 2]) + 0.01 * sum(rep_matrix(m[2], 3));
  target += 0.1 * dot_product(linspaced_vector(N, 0, 1), b) + 0.1 * one_hot_vector(N, 1)' * b + 0.01 * sum(sub_row(m, 1, 2, 2)) + 0.01 * sum(diagonal(m));
}
