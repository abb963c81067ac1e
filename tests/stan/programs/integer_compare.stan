// Comparisons between integers and reals decide what is added, and integers become reals.
data {
  int N;
  array[N] int k;
  vector[N] x;
  real cut;
}
transformed data {
  int above = 0;
  array[N] int is_high;
  for (n in 1 : N) {
    is_high[n] = k[n] > cut;
    above += k[n] >= 2.5;
    if (!(x[n] < cut) || k[n] == 0) {
      above += 1;
    }
  }
}
parameters {
  real a;
  real<lower=0> s;
}
model {
  a ~ normal(above / 2, 3);
  s ~ gamma(2, 1.0 * above / 2);
  for (n in 1 : N) {
    real mean_n = is_high[n] ? a + k[n] : k[n] * 1.5;
    x[n] ~ normal(mean_n, s);
  }
  target += (above > 1 && N != 3 ? 1 : 0.5) * a - N / 2 * 0.1 * a;
}
