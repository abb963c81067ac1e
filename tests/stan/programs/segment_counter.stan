// Segments of a list by a counter.
data {
  int G;
  array[G] int n;
  int N;
  vector[N] y;
}
parameters {
  vector[G] mu;
  real<lower=0> s;
}
model {
  int pos = 1;
  for (g in 1:G) {
    segment(y, pos, n[g]) ~ normal(mu[g], s);
    pos += n[g];
  }
  pos = 0;
  for (g in 1:G) {
    target += normal_lpdf(y[(pos + 1):(pos + n[g])] | mu[g], 2);
    pos = pos + n[g];
  }
  mu ~ std_normal();
  s ~ exponential(1);
}
