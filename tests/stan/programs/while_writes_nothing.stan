// Loops on parameters that write nothing from outside: they are never entered, or never end.
data {
  int N;
  int M;
  vector[N] x;
}
parameters {
  vector[5] th;
}
model {
  th ~ normal(0, 1);
  for (i in 1 : N) {
    while (th[1] > 5) {
      vector[5] z = th;
      int n = 0;
    }
  }
  while (th[1] + th[2] > 0.9) {
  }
  target += 0.3 * th[1];
}
generated quantities {
  real s = th[1];
  while (th[3] > 5) {
  }
}
