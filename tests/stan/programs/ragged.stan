// Classes of unequal size one behind the other, cut out with segment and with ranges.
data {
  int<lower=0> pupils;
  int<lower=1> classes;
  vector[pupils] mark;
  array[classes] int<lower=1> heads;
}
transformed data {
  array[classes] int<lower=1> start;
  start[1] = 1;
  for (c in 2 : classes) start[c] = start[c - 1] + heads[c - 1];
}
parameters {
  vector[classes] level;
  vector<lower=0>[classes] spread;
}
model {
  int from_here = 1;
  level ~ normal(0, 3);
  spread ~ normal(0, 2);
  for (c in 1 : classes) {
    segment(mark, from_here, heads[c]) ~ normal(level[c], spread[c]);
    from_here += heads[c];
    target += 0.1 * normal_lpdf(mark[start[c] : start[c] + heads[c] - 1] | level[c], 1);
  }
}
generated quantities {
  vector[classes] plain_mean;
  for (c in 1 : classes) plain_mean[c] = mean(mark[start[c] : (c < classes ? start[c + 1] - 1 : pupils)]);
}
