// Choices by a matrix of effects whose last column is fixed at zero, and the same as one density.
data {
  int<lower=2> options;
  int<lower=0> choices;
  int<lower=1> columns;
  matrix[choices, columns] design;
  array[choices] int<lower=1, upper=options> chosen;
}
parameters {
  matrix[columns, options - 1] free;
  simplex[options] share;
}
transformed parameters {
  matrix[columns, options] effect = append_col(free, zeros_vector(columns));
}
model {
  to_vector(free) ~ normal(0, 2);
  share ~ dirichlet([1, 2, 3]');
  chosen ~ categorical(share);
  for (c in 1 : choices) chosen[c] ~ categorical_logit((design[c] * effect)');
  target += 0.1 * categorical_logit_glm_lpmf(chosen | design, log(share), effect);
}
