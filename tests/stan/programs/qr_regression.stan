// Predictors turned to be orthogonal, and the coefficients turned back.
data {
  int<lower=2> cases;
  int<lower=1> columns;
  matrix[cases, columns] design;
  vector[cases] outcome;
}
transformed data {
  real stretch = sqrt(cases - 1.0);
  matrix[cases, columns] turned = stretch * qr_thin_Q(design);
  matrix[columns, columns] back = inverse(qr_thin_R(design) / stretch);
}
parameters {
  real level;
  vector[columns] turned_effect;
  real<lower=0> noise;
}
transformed parameters {
  vector[columns] effect = back * turned_effect;
}
model {
  effect ~ double_exponential(0, 2);
  level ~ normal(0, 3);
  noise ~ gamma(2, 2);
  outcome ~ normal(level + turned * turned_effect, noise);
}
