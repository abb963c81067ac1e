// A mixture of as many parts as are needed: a stick is broken.
data {
  int<lower=1> N;
  int<lower=2> K;
  vector[N] y;
}
parameters {
  vector<lower=0, upper=1>[K - 1] cut;
  real<lower=0> concentration;
  vector[K] location;
  vector<lower=0>[K] width;
}
transformed parameters {
  simplex[K] share;
  {
    real left = 1;
    for (k in 1:(K - 1)) {
      share[k] = cut[k] * left;
      left *= 1 - cut[k];
    }
    share[K] = left;
  }
}
model {
  concentration ~ gamma(2, 1);
  cut ~ beta(1, concentration);
  location ~ normal(0, 3);
  width ~ inv_gamma(3, 2);
  for (n in 1:N) {
    vector[K] lp = log(share);
    for (k in 1:K) lp[k] += normal_lpdf(y[n] | location[k], width[k]);
    target += log_sum_exp(lp);
  }
}
generated quantities {
  matrix[N, K] member;
  for (n in 1:N) {
    for (k in 1:K) member[n, k] = log(share[k]) + normal_lpdf(y[n] | location[k], width[k]);
    member[n] = softmax(member[n]')';
  }
}
