// Accidents whose rate changed once: the year is summed out by two loops, and again by running sums.
data {
  int<lower=2> years;
  array[years] int<lower=0> accidents;
  real<lower=0> prior_rate;
}
parameters {
  real<lower=0> before;
  real<lower=0> after;
}
transformed parameters {
  vector[years] score = rep_vector(-log(years), years);
  for (change in 1 : years) {
    for (year in 1 : years) {
      score[change] += poisson_lpmf(accidents[year] | year < change ? before : after);
    }
  }
}
model {
  vector[years] gain;
  vector[years] rest;
  before ~ exponential(prior_rate);
  after ~ exponential(prior_rate);
  target += log_sum_exp(score);
  for (year in 1 : years) {
    gain[year] = poisson_lpmf(accidents[year] | before) - poisson_lpmf(accidents[year] | after);
    rest[year] = poisson_lpmf(accidents[year] | after);
  }
  target += 0.1 * log_sum_exp(sum(rest) + append_row(0, cumulative_sum(gain)[1 : years - 1]));
}
generated quantities {
  simplex[years] when = softmax(score);
  int likely = sort_indices_desc(when)[1];
}
