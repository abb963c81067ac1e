// Returns under conditions on data that differ from round to round.
functions {
  real f(int n, real x) {
    if (n == 0)
      return 0;
    if (n < 3) {
      return x;
    }
    for (i in 1:n) {
      if (i == 5)
        return x * i;
    }
    return square(x);
  }
}
data {
  int N;
  array[N] int k;
}
parameters {
  vector[N] x;
}
model {
  for (n in 1:N)
    target += f(k[n], x[n]) - square(x[n]);
}
