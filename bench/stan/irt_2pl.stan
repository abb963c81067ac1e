data {
  int row_count;
  int persons;
  int items;
  int person[row_count];
  int item[row_count];
  int y[row_count];
}
parameters {
  vector[persons] ability;
  vector<lower=0>[items] slope;
  vector[items] difficulty;
}
model {
  ability ~ normal(0, 1);
  slope ~ lognormal(0, 0.5);
  difficulty ~ normal(0, 2);
  y ~ bernoulli_logit(slope[item] .* (ability[person] - difficulty[item]));
}
