// Two clusters on a line: log_mix over a foreach loop, centres in order.
data {
  int<lower=1> points;
  array[points] real where;
}
parameters {
  ordered[2] centre;
  array[2] real<lower=0> width;
  real<lower=0, upper=1> left_share;
}
model {
  centre ~ normal([-1, 1]', 3);
  width ~ gamma(3, 3);
  left_share ~ beta(4, 4);
  for (at in where) {
    target += log_mix(left_share, normal_lpdf(at | centre[1], width[1]), normal_lpdf(at | centre[2], width[2]));
  }
}
