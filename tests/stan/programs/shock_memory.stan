// Shocks that remember at most so many of those before: fewer in the first rounds.
data {
  int days;
  int memory;
  vector[days] seen;
}
parameters {
  real level;
  vector[memory] share;
  real<lower=0> noise;
}
transformed parameters {
  vector[days] shock;
  for (d in 1:days) {
    shock[d] = seen[d] - level;
    for (k in 1:min(memory, d - 1))
      shock[d] -= share[k] * shock[d - k];
  }
}
model {
  level ~ std_normal();
  share ~ normal(0, 0.5);
  noise ~ exponential(1);
  shock ~ normal(0, noise);
}
