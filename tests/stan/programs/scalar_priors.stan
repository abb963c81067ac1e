// A line through temperatures by year; the priors' numbers come as data, and one year is predicted.
data {
  int<lower=0> years;
  vector[years] year;
  vector[years] warmth;
  real level_guess;
  real<lower=0> level_doubt;
  real trend_guess;
  real<lower=0> trend_doubt;
  real year_ahead;
}
parameters {
  real level;
  real trend;
  real<lower=0> noise;
}
transformed parameters {
  vector[years] line = level + trend * year;
}
model {
  level ~ normal(level_guess, level_doubt);
  trend ~ normal(trend_guess, trend_doubt);
  warmth ~ normal(line, noise);
}
generated quantities {
  real ahead = level + trend * year_ahead;
  real drawn = normal_rng(ahead, noise);
  real from_drawn = drawn * 2;
  vector[years] fit;
  for (i in 1 : years) fit[i] = normal_lpdf(warmth[i] | line[i], noise);
}
