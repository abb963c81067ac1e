// Leaving and skipping rounds of loops, on data and on indices.
data {
  int N;
  array[N] int code;
  vector[N] y;
}
transformed data {
  int seen = 0;
  for (i in 1 : N) {
    for (j in i : N) {
      if (code[j] == 9) break;
      if (code[j] == 0) continue;
      seen += 1;
    }
  }
}
parameters {
  real mu;
  real tau;
}
model {
  mu ~ normal(seen * 0.01, 1);
  tau ~ std_normal();
  for (n in 1 : N) {
    if (code[n] == 0) continue;
    if (code[n] == 9) {
      break;
    }
    y[n] ~ normal(mu + tau * code[n], 1);
  }
  for (i in 1 : 3) {
    for (j in 1 : 3) {
      if (j > i) break;
      target += -0.01 * i * j * square(mu);
      if (i + j == 4) {
        continue;
      } else {
        target += 0.01 * tau;
      }
    }
  }
}
