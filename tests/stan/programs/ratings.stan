// Ratings of films on a scale of five; every judge has cut points of his own.
data {
  int<lower=1> N;
  int<lower=1> J;
  int<lower=1> F;
  int<lower=2> K;
  array[N] int<lower=1, upper=J> judge;
  array[N] int<lower=1, upper=F> film;
  array[N] int<lower=1, upper=K> stars;
}
parameters {
  ordered[K - 1] common;
  array[J] vector[K - 1] away;
  vector[F] quality;
  vector<lower=0>[J] sharp;
}
transformed parameters {
  array[J] vector[K - 1] cuts;
  for (j in 1:J) {
    vector[K - 1] gaps = exp(0.2 * away[j]);
    cuts[j][1] = common[1] + 0.3 * away[j, 1];
    for (k in 2:(K - 1)) cuts[j][k] = cuts[j][k - 1] + (common[k] - common[k - 1]) * gaps[k];
  }
}
model {
  common ~ normal(0, 2);
  for (j in 1:J) away[j] ~ std_normal();
  quality ~ normal(0, 1);
  sharp ~ lognormal(0, 0.3);
  for (n in 1:N) stars[n] ~ ordered_logistic(sharp[judge[n]] * quality[film[n]], cuts[judge[n]]);
}
