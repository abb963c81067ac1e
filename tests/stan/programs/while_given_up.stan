// Sizes that differ from round to round, which the body of a while loop tells: rounds begin again in another
// way, with all terms that were there before, and those of the steps of a recurrence.
data {
  int N;
  vector[N] x;
}
parameters {
  vector[5] th;
}
model {
  real v = 0.3;
  th ~ normal(0, 1);
  target += th[2];
  for (i in 1 : 5) {
    real s = 0;
    int n = 0;
    while (n < 3 && x[i] * n > th[1]) {
      vector[i] u = th[4] + x[1 : i];
      n += 1;
      s += sum(tanh(u));
      target += 0.01 * th[3] * n;
    }
    target += s * th[3];
  }
  for (t in 1 : N) {
    v = 0.5 * v + th[4] * x[t];
    target += -square(v);
    for (i in 1 : 5) {
      int n = 0;
      while (n < 2 && x[i] * t > th[1]) {
        vector[i] u = v + x[1 : i];
        n += 1;
        target += 0.1 * sum(tanh(u));
      }
    }
  }
}
