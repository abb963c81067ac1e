// Ponds with newts or without: visits that saw none leave both open, and data choose the branch.
data {
  int<lower=0> ponds;
  int<lower=1> visits;
  array[ponds, visits] int<lower=0, upper=1> newt;
  vector[ponds] depth;
  matrix[ponds, visits] wind;
}
transformed data {
  array[ponds] int<lower=0, upper=visits> sightings;
  int<lower=0, upper=ponds> sure = 0;
  for (p in 1 : ponds) {
    sightings[p] = sum(newt[p]);
    sure += sightings[p] > 0;
  }
}
parameters {
  vector[2] live;
  vector[2] find;
}
transformed parameters {
  vector[ponds] there = live[1] + live[2] * depth;
  matrix[ponds, visits] visible = find[1] + find[2] * wind;
}
model {
  live ~ normal(0, 2);
  find ~ normal(0, 2);
  for (p in 1 : ponds) {
    real with_newts = log_inv_logit(there[p]) + bernoulli_logit_lpmf(newt[p] | visible[p]);
    if (sightings[p]) {
      target += with_newts;
    } else {
      target += log_sum_exp(with_newts, log1m_inv_logit(there[p]));
    }
  }
}
generated quantities {
  real expected = sure;
  for (p in 1 : ponds) {
    if (sightings[p] == 0) {
      real odds = exp(there[p]) * prod(inv_logit(-visible[p]));
      expected += odds / (1 + odds);
    }
  }
}
