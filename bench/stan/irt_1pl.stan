data {
  int row_count;
  int persons;
  int items;
  int person[row_count];
  int item[row_count];
  int y[row_count];
}
parameters {
  real<lower=0> spread;
  vector[persons] ability;
  vector[items] difficulty;
}
model {
  vector[persons] scaled = spread * ability;
  spread ~ normal(0, 1);
  ability ~ normal(0, 1);
  difficulty ~ normal(0, 2);
  y ~ bernoulli_logit(scaled[person] - difficulty[item]);
}
