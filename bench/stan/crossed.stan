data {
  int row_count;
  int subjects;
  int stimuli;
  int subject[row_count];
  int stimulus[row_count];
  int y[row_count];
}
parameters {
  real mu;
  real<lower=0> s_subject;
  real<lower=0> s_stimulus;
  vector[subjects] z_subject;
  vector[stimuli] z_stimulus;
}
model {
  vector[subjects] by_subject = s_subject * z_subject;
  vector[stimuli] by_stimulus = s_stimulus * z_stimulus;
  mu ~ normal(0, 2);
  s_subject ~ normal(0, 1);
  s_stimulus ~ normal(0, 1);
  z_subject ~ normal(0, 1);
  z_stimulus ~ normal(0, 1);
  y ~ bernoulli_logit(mu + by_subject[subject] + by_stimulus[stimulus]);
}
