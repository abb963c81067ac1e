// Grades from bad to good by cut points, logistic and probit, with rows of predictors in an array.
data {
  int<lower=2> grades;
  int<lower=0> essays;
  array[essays] row_vector[2] features;
  array[essays] int<lower=1, upper=grades> grade;
}
parameters {
  vector[2] effect;
  ordered[grades - 1] cut;
}
model {
  vector[essays] quality;
  effect ~ normal(0, 2);
  cut ~ student_t(4, 0, 3);
  for (e in 1 : essays) quality[e] = features[e] * effect;
  grade ~ ordered_logistic(quality, cut);
  for (e in 1 : essays) {
    target += 0.25 * ordered_probit_lpmf(grade[e] | quality[e], cut);
    target += 0.1 * ordered_logistic_lpmf(grade[e] | quality[e], cut);
  }
}
generated quantities {
  vector[grades] chance;
  for (k in 1 : grades) chance[k] = exp(ordered_logistic_lpmf(k | 0.3, cut));
}
