// While loops that end after different rounds.
data {
  int N;
  array[N] int k;
}
parameters {
  vector[N] x;
}
model {
  for (n in 1:N) {
    int i = k[n];
    real p = 1;
    while (i > 0) {
      p *= x[n];
      i -= 1;
    }
    target += -square(p - 1);
  }
}
