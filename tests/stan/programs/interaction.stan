// An interaction by elementwise product, and centring of both predictors.
data {
  int<lower=0> N;
  vector[N] score;
  vector<lower=0, upper=1>[N] school;
  vector[N] iq;
}
transformed data {
  vector[N] both = school .* iq;
  vector[N] c_iq = iq - mean(iq);
  vector[N] ratio = iq ./ (1 + school);
}
parameters {
  vector[4] beta;
  real<lower=0> sigma;
}
model {
  beta ~ normal(0, 100);
  sigma ~ exponential(0.1);
  score ~ normal(beta[1] + beta[2] * school + beta[3] * iq + beta[4] * both + 0.01 * ratio - 0.001 * c_iq, sigma);
}
