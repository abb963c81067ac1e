// Counters that follow from data, in loops inside of others that data end early.
data {
  int G;
  array[G] int n;
  int N;
  vector[N] y;
  array[N] int code;
}
parameters {
  vector[G] mu;
  real<lower=0> s;
  vector[N] x;
}
transformed parameters {
  vector[N] z = rep_vector(0, N);
  {
    int pos = 0;
    real clock = 0;
    for (g in 1 : G) {
      for (i in 1 : n[g]) {
        pos += 1;
        if (code[pos] == 9) break;
        clock += 0.1 * code[pos];
        z[pos] = mu[g] * i + clock * x[pos];
      }
      pos += 1;
    }
  }
}
model {
  int pos = 1;
  int odd = 0;
  mu ~ std_normal();
  s ~ exponential(1);
  x ~ std_normal();
  for (g in 1 : G) {
    segment(y, pos, n[g]) ~ normal(mu[g], s);
    for (i in 1 : n[g]) {
      target += -0.1 * square(x[pos + i - 1] - mu[g]);
      if (code[pos + i - 1] % 2 == 1) odd += 1;
      if (odd > 5) target += -0.01 * x[pos];
    }
    pos += n[g];
  }
  for (i in 1 : N) {
    if (code[i] == 9) break;
    target += -0.02 * square(z[i]);
  }
  for (k in 1:N) target += z[k] * k;
}
