data {
  int row_count;
  int schools;
  int classes;
  int school_of_class[classes];
  int class_of_pupil[row_count];
  vector[row_count] y;
}
parameters {
  real mu;
  real<lower=0> s_school;
  real<lower=0> s_class;
  real<lower=0> s_pupil;
  vector[schools] by_school;
  vector[classes] by_class;
}
model {
  mu ~ normal(0, 5);
  s_school ~ normal(0, 2);
  s_class ~ normal(0, 2);
  s_pupil ~ normal(0, 2);
  by_school ~ normal(mu, s_school);
  by_class ~ normal(by_school[school_of_class], s_class);
  y ~ normal(by_class[class_of_pupil], s_pupil);
}
