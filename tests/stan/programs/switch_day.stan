// Every day may be the one of the switch: a table of sums of two rates.
data {
  int days;
  array[days] int calls;
}
parameters {
  real<lower=0> quiet;
  real<lower=0> busy;
}
transformed parameters {
  vector[days] fit = rep_vector(0, days);
  for (switch_at in 1:days) {
    for (d in 1:days)
      fit[switch_at] = fit[switch_at]
                       + poisson_lpmf(calls[d] | d < switch_at ? quiet : busy);
  }
}
model {
  quiet ~ exponential(1);
  busy ~ exponential(0.5);
  target += log_sum_exp(fit) - log(days);
}
generated quantities {
  int likely = sort_indices_desc(fit)[1];
}
