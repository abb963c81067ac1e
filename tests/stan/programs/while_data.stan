// While loops over data: a search, a halving and a count of digits.
data {
  int<lower=1> N;
  vector[N] x;
  int<lower=1> big;
}
transformed data {
  int digits = 0;
  int rest = big;
  int first_positive = 1;
  real step = 1;
  while (rest > 0) {
    digits += 1;
    rest = rest %/% 10;
  }
  while (first_positive < N && x[first_positive] <= 0) first_positive += 1;
  while (1) {
    step /= 2;
    if (step < 0.1) break;
  }
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  int n = first_positive;
  mu ~ normal(digits, 1);
  sigma ~ weibull(1.5, 1 / step);
  while (n <= N) {
    x[n] ~ normal(mu * step, sigma);
    n += 2;
  }
}
