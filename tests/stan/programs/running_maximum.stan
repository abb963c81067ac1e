// The largest so far and where it was.
data {
  int N;
  vector[N] y;
}
parameters {
  vector[N] x;
}
transformed parameters {
  vector[N] top;
  real best = x[1];
  {
    int spot = 1;
    for (n in 1:N) {
      if (x[n] > best) {
        best = x[n];
        spot = n;
      }
      top[n] = best + 0.01 * spot;
    }
  }
}
model {
  x ~ normal(0, 1);
  y ~ normal(top, 1);
}
generated quantities {
  int w = 1;
  for (n in 2:N)
    if (x[n] > x[w])
      w = n;
  real bb = x[w] - best;
}
