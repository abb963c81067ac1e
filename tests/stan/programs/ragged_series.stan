// Series of different lengths, one of them empty, by a counter.
data {
  int G;
  int N;
  array[G] int len;
  vector[N] y;
}
parameters {
  real<lower=-1, upper=1> rho;
  real<lower=0> s;
  vector[G] m;
}
model {
  int pos = 1;
  for (g in 1:G) {
    vector[len[g]] yy = segment(y, pos, len[g]);
    real prev = m[g];
    for (t in 1:len[g]) {
      yy[t] ~ normal(m[g] + rho * (prev - m[g]), s);
      prev = yy[t];
    }
    pos += len[g];
  }
  m ~ std_normal();
  s ~ exponential(1);
}
