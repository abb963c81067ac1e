// Loops that are left under conditions on parameters: few rounds, many, and in lanes of a loop around.
data {
  int N;
  int G;
  vector[N] y;
}
parameters {
  vector[N] x;
  vector[G] m;
  real c;
}
transformed parameters {
  vector[N] z = rep_vector(0, N);
  real reached = 0;
  for (n in 1 : N) {
    if (x[n] > c + 0.9) break;
    z[n] = square(x[n] - c) + (n > 1 ? 0.5 * z[n - 1] : 0);
    reached += 1;
  }
}
model {
  x ~ std_normal();
  m ~ std_normal();
  c ~ normal(0, 2);
  for (n in 1 : 3) {
    if (x[n] > c) break;
    target += -0.1 * square(x[n]);
  }
  for (n in 1 : N) {
    y[n] ~ normal(x[n], 1);
    if (x[n] + y[n] > 0.8) break;
    target += -0.05 * x[n] * c;
  }
  for (g in 1 : G) {
    real total = 0;
    for (n in 1 : N) {
      total += exp(x[n] - m[g]);
      if (total > 6) break;
    }
    target += -0.1 * total;
  }
}
generated quantities {
  int first = 0;
  real past = 0;
  for (n in 1 : N) {
    first = n;
    if (x[n] > c) break;
    past += x[n];
  }
}
