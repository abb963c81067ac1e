// A branch under two conditions, neither of which may let a slope through where it has none.
data {
  int N;
  vector[N] y;
}
parameters {
  vector[N] x;
}
model {
  x ~ std_normal();
  for (n in 1 : N) {
    if (x[n] > 0) {
      if (y[n] < x[n] + 5) target += sqrt(x[n]) + log(x[n]);
    }
    if (x[n] > 0.1 && x[n] < 3)
      target += x[n] > 0.05 ? log(x[n]) : 0.0;
  }
}
