// Arrays of tuples as parameters, in loops, under conditions, and as what functions return.
functions {
  tuple(real, vector) shifted(tuple(real, vector) p, real by) {
    return (p.1 + by, p.2 * by);
  }
}
data {
  int N;
  vector[N] y;
  array[N] int g;
}
parameters {
  array[3] tuple(real<lower=0>, vector[2]) p;
  array[2, 2] tuple(real, simplex[3]) q;
}
transformed parameters {
  array[3] tuple(real, vector[2]) moved;
  for (i in 1 : 3) {
    moved[i] = shifted(p[i], i * 0.5);
    if (p[i].1 > 1) moved[i].1 = p[i].2[1];
  }
}
model {
  for (i in 1 : 3) {
    p[i].1 ~ gamma(2, 2);
    p[i].2 ~ normal(0, p[i].1);
  }
  for (i in 1 : 2)
    for (j in 1 : 2) {
      q[i, j].1 ~ normal(moved[i + 1].1, 1);
      target += log(q[i, j].2[2]);
    }
  for (n in 1 : N) {
    target += -0.1 * p[g[n] + 1].1 * q[g[n], 2].2[2];
    if (y[n] > q[2, g[n]].1) target += dot_self(p[g[n]].2) * -0.1;
  }
  for (n in 1 : N) y[n] ~ normal(moved[1].2[g[n]] + q[1, g[n]].1, 1 + p[2].1);
}
