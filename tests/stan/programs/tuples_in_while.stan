// Tuples that loops on parameters write: alone, in rounds of a loop around, by members, swapped.
data {
  int N;
  int M;
  vector[N] x;
}
parameters {
  vector[5] th;
}
transformed parameters {
  tuple(real, vector[5]) u = (th[1], th * 2);
  array[3] tuple(real, real) a = {(1, th[1]), (2, th[2]), (3, th[3])};
  {
    int n = 0;
    while (n < 5 && u.1 < 1) {
      n += 1;
      u.1 += 0.3 + square(th[2]);
      u.2[n] = tanh(u.2[n]);
      a[1 + n % 3] = (n, u.1);
      a[2].2 *= 0.7;
    }
  }
  for (i in 1 : (th[1] > 0 ? 2 : 3)) {
    u.2[i] += th[i];
    u.1 *= 0.9;
  }
}
model {
  real s = 0.2 * th[1];
  th ~ normal(0, 1);
  for (i in 1 : N) {
    tuple(real, vector[5]) w = (x[i], th * x[i]);
    while (w.1 < 1 + th[1]) {
      w.1 += 0.3;
      w.2[2] *= 0.5;
    }
    target += 0.1 * w.1 * sum(w.2);
  }
  for (i in 1 : N) {
    tuple(real, vector[2]) w = (x[i], th[1 : 2]);
    if (x[i] > 0.1) {
      while (w.1 < 1 + th[1]) 
        w.1 += 0.4 + square(th[2]);
    }
    target += 0.3 * w.1 * sum(w.2);
  }
  {
    int n = 0;
    tuple(real, real) p = (th[1], th[2]);
    while (n < 3 && p.1 < 0.5) {
      n += 1;
      (p.1, s) = (s + 0.2, p.1);
      p.2 += s;
    }
    target += p.1 - 0.3 * p.2 + s;
  }
}
