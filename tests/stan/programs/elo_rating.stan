// Two places of one vector change in each match.
data {
  int M;
  int T;
  array[M] int home;
  array[M] int away;
  array[M] int win;
}
parameters {
  real<lower=0> k;
  real h;
  vector[T] start;
}
model {
  vector[T] r = start;
  for (m in 1:M) {
    real p = inv_logit(r[home[m]] - r[away[m]] + h);
    real d;
    win[m] ~ bernoulli(p);
    d = k * (win[m] - p);
    r[home[m]] += d;
    r[away[m]] -= d;
  }
  k ~ exponential(1);
  h ~ std_normal();
  start ~ std_normal();
}
