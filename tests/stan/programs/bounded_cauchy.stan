// Bounds of every kind on data and parameters, with half Cauchy priors.
data {
  int<lower=1, upper=100> N;
  array[N] int<lower=0, upper=1> treated;
  vector<lower=-10, upper=10>[N] y;
  real<lower=0> scale;
}
parameters {
  real<lower=-5, upper=5> mu;
  real<upper=3> shift;
  real<lower=0> sigma;
  real<lower=mu> above;
  vector<lower=0, upper=1>[2] weight;
  row_vector<upper=0>[2] below;
}
model {
  sigma ~ cauchy(0, scale);
  shift ~ normal(0, 1);
  above - mu ~ exponential(1);
  weight ~ beta(2, 3);
  below ~ double_exponential(0, 1.5);
  for (n in 1 : N) {
    y[n] ~ normal(mu + shift * treated[n] + weight[1] * below[1] + weight[2] * below[2], sigma + 0.1 * (above - mu));
  }
}
