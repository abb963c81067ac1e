// A mixture of two normal distributions, told apart by the order of their means.
data {
  int<lower=1> N;
  vector[N] y;
}
parameters {
  ordered[2] mu;
  vector<lower=0>[2] sigma;
  real<lower=0, upper=1> share;
}
model {
  mu ~ normal(0, 4);
  sigma ~ normal(0, 2);
  share ~ beta(3, 3);
  for (n in 1 : N) {
    target += log_mix(share, normal_lpdf(y[n] | mu[1], sigma[1]), normal_lpdf(y[n] | mu[2], sigma[2]));
  }
}
generated quantities {
  vector[N] first;
  for (n in 1 : N) {
    first[n] = inv_logit(logit(share) + normal_lpdf(y[n] | mu[1], sigma[1])
                         - normal_lpdf(y[n] | mu[2], sigma[2]));
  }
}
