// A recurrence for each of several series.
data {
  int G;
  int T;
  array[G, T] real y;
}
parameters {
  vector[G] a;
  real<lower=-1, upper=1> phi;
  real<lower=0> s;
  array[G] vector[T] e;
}
transformed parameters {
  array[G] vector[T] h;
  for (g in 1:G) {
    h[g, 1] = a[g];
    for (t in 2:T)
      h[g, t] = a[g] + phi * (h[g, t - 1] - a[g]) + s * e[g, t];
  }
}
model {
  a ~ std_normal();
  s ~ exponential(1);
  for (g in 1:G) {
    e[g] ~ std_normal();
    y[g] ~ normal(h[g], 1);
  }
}
