// Gaps in panels: the last value seen and the time since then.
data {
  int N;
  int T;
  array[N, T] int seen;
  matrix[N, T] y;
}
parameters {
  vector[N] m;
  real<lower=-1, upper=1> r;
  real<lower=0> s;
}
model {
  for (n in 1:N) {
    real last = m[n];
    int gap = 0;
    for (t in 1:T) {
      gap += 1;
      if (seen[n, t]) {
        y[n, t] ~ normal(m[n] + pow(r, gap) * (last - m[n]), s * sqrt(gap));
        last = y[n, t];
        gap = 0;
      }
    }
  }
  m ~ std_normal();
  s ~ exponential(1);
}
