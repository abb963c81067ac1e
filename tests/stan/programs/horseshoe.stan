// Many predictors, few that matter: local and global scales, their tails cut by a slab.
data {
  int<lower=0> cases;
  int<lower=0> columns;
  matrix[cases, columns] design;
  array[cases] int<lower=0, upper=1> outcome;
  real<lower=0> global_guess;
  real<lower=0> slab_width;
  real<lower=1> slab_degrees;
}
parameters {
  real level;
  vector[columns] raw;
  vector<lower=0>[columns] own;
  real<lower=0> common;
  real<lower=0> slab_square;
}
transformed parameters {
  vector[columns] effect;
  {
    real slab = slab_width ^ 2 * slab_square;
    vector[columns] own_square = own .^ 2;
    vector[columns] cut = sqrt(slab * own_square ./ (slab + common ^ 2 * own_square));
    effect = common * raw .* cut;
  }
}
model {
  level ~ normal(0, 2);
  raw ~ std_normal();
  own ~ cauchy(0, 1);
  common ~ cauchy(0, global_guess);
  slab_square ~ inv_gamma(slab_degrees / 2, slab_degrees / 2);
  outcome ~ bernoulli_logit(level + design * effect);
}
