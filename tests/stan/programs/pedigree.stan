// Animals from their parents, where these are known.
data {
  int N;
  array[N] int ma;
  array[N] int pa;
  vector[N] y;
}
parameters {
  vector[N] z;
  real<lower=0> s;
}
transformed parameters {
  vector[N] a;
  for (n in 1:N) {
    if (ma[n] == 0 && pa[n] == 0)
      a[n] = s * z[n];
    else if (ma[n] == 0)
      a[n] = 0.5 * a[pa[n]] + sqrt(0.75) * s * z[n];
    else if (pa[n] == 0)
      a[n] = 0.5 * a[ma[n]] + sqrt(0.75) * s * z[n];
    else
      a[n] = 0.5 * (a[ma[n]] + a[pa[n]]) + sqrt(0.5) * s * z[n];
  }
}
model {
  z ~ std_normal();
  s ~ exponential(1);
  y ~ normal(a, 1);
}
