// Effects that vary together by group: scales times the factor of a correlation, over an array of vectors.
data {
  int<lower=1> cases;
  int<lower=1> groups;
  int<lower=1> columns;
  array[cases] int<lower=1, upper=groups> group;
  matrix[cases, columns] design;
  vector[cases] outcome;
}
parameters {
  vector[columns] typical;
  cholesky_factor_corr[columns] factor;
  vector<lower=0>[columns] scale;
  array[groups] vector[columns] effect;
  real<lower=0> noise;
}
model {
  typical ~ normal(0, 2);
  factor ~ lkj_corr_cholesky(2);
  scale ~ exponential(1);
  noise ~ normal(0, 1);
  for (g in 1 : groups) effect[g] ~ multi_normal_cholesky(typical, diag_pre_multiply(scale, factor));
  for (c in 1 : cases) outcome[c] ~ normal(design[c] * effect[group[c]], noise);
}
generated quantities {
  corr_matrix[columns] correlation = multiply_lower_tri_self_transpose(factor);
}
