// Counts whose rate changes twice, at days that are summed out.
data {
  int<lower=3> T;
  array[T] int<lower=0> y;
}
transformed data {
  real even = -log(T);
}
parameters {
  array[3] real<lower=0> rate;
}
transformed parameters {
  matrix[T, T] lp = rep_matrix(negative_infinity(), T, T);
  {
    matrix[T + 1, 3] so_far;
    so_far[1] = rep_row_vector(0, 3);
    for (t in 1:T)
      for (k in 1:3) so_far[t + 1, k] = so_far[t, k] + poisson_lpmf(y[t] | rate[k]);
    for (s in 1:T)
      for (t in s:T)
        lp[s, t] = 2 * even + so_far[s, 1] + so_far[t, 2] - so_far[s, 2] + so_far[T + 1, 3] - so_far[t, 3];
  }
}
model {
  rate ~ gamma(2, 0.5);
  target += log_sum_exp(lp);
}
generated quantities {
  vector[T] first_change;
  for (s in 1:T) first_change[s] = exp(log_sum_exp(lp[s]) - log_sum_exp(lp));
}
