// Level, trend and season, one from the other.
data {
  int T;
  vector[T] y;
  int S;
}
parameters {
  vector[T] u;
  vector[T] v;
  vector[T] w;
  vector<lower=0>[3] s;
}
transformed parameters {
  vector[T] level;
  vector[T] trend;
  vector[T] season;
  level[1] = u[1];
  trend[1] = v[1];
  for (t in 1:(S - 1))
    season[t] = w[t];
  for (t in S:T) {
    real a = 0;
    for (k in 1:(S - 1))
      a -= season[t - k];
    season[t] = a + s[3] * w[t];
  }
  for (t in 2:T) {
    trend[t] = trend[t - 1] + s[2] * v[t];
    level[t] = level[t - 1] + trend[t - 1] + s[1] * u[t];
  }
}
model {
  u ~ std_normal();
  v ~ std_normal();
  w ~ std_normal();
  s ~ exponential(1);
  y ~ normal(level + season, 1);
}
