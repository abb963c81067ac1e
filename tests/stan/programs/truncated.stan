// Distributions that are cut on one side or both, of reals and of integers.
data {
  int N;
  array[N] real<lower=-1, upper=4> y;
  array[N] int<lower=1, upper=9> k;
  array[N] int<lower=2> n;
}
parameters {
  real mu;
  real<lower=0> sigma;
  real<lower=0, upper=6> lambda;
}
model {
  mu ~ normal(0, 1) T[-2, 3];
  sigma ~ cauchy(0, 1) T[0, ];
  lambda ~ gamma(2, 0.5) T[ , 6];
  for (i in 1 : N) {
    y[i] ~ normal(mu, sigma) T[-1, 4];
    k[i] ~ poisson(lambda) T[1, 9];
    n[i] ~ poisson(lambda + 1) T[2, ];
  }
  0.5 ~ exponential(lambda) T[0.1, 2];
  1.5 ~ student_t(3, mu, sigma) T[mu, ];
}
