// Item response theory: answers by the ability of persons and by items that differ in difficulty and sharpness.
data {
  int<lower=1> items;
  int<lower=1> persons;
  array[items, persons] int<lower=0, upper=1> correct;
}
parameters {
  vector[persons] ability;
  vector<lower=0>[items] sharpness;
  real typical;
  real<lower=0> spread;
  vector<offset=typical, multiplier=spread>[items] difficulty;
}
model {
  ability ~ std_normal();
  sharpness ~ lognormal(0, 0.5);
  typical ~ normal(0, 2);
  spread ~ normal(0, 1);
  difficulty ~ normal(typical, spread);
  for (i in 1 : items) {
    correct[i] ~ bernoulli_logit(sharpness[i] * (ability - difficulty[i]));
  }
}
generated quantities {
  vector[items] average_chance;
  for (i in 1 : items) {
    average_chance[i] = mean(inv_logit(sharpness[i] * (ability - difficulty[i])));
  }
}
