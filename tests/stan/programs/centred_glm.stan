// Columns centred in transformed data, a regression as one density, a prior that is cut at zero by its tail.
data {
  int<lower=1> cases;
  int<lower=2> columns;
  matrix[cases, columns] design;
  vector[cases] price;
  int<lower=0, upper=1> without_data;
}
transformed data {
  matrix[cases, columns - 1] centred;
  row_vector[columns - 1] shift;
  for (j in 1 : columns - 1) {
    shift[j] = mean(design[ : , j + 1]);
    centred[ : , j] = design[ : , j + 1] - shift[j];
  }
}
parameters {
  vector[columns - 1] effect;
  real level;
  real<lower=0> noise;
}
transformed parameters {
  real prior = student_t_lpdf(level | 3, 8, 10);
  prior += normal_lpdf(effect | 0, 1);
  prior += student_t_lpdf(noise | 3, 0, 10) - student_t_lccdf(0 | 3, 0, 10);
}
model {
  if (!without_data) price ~ normal_id_glm(centred, level, effect, noise);
  target += prior;
}
generated quantities {
  real intercept = level - shift * effect;
}
