// Infections from those of the days before, fewer in the first days.
data {
  int T;
  int S;
  array[T] int c;
  vector[S] gen;
}
parameters {
  vector[T] eps;
  real<lower=0> seed;
  real<lower=0> phi;
}
transformed parameters {
  vector[T] R;
  vector[T] inf;
  vector[T] ex;
  R[1] = 1;
  for (t in 2:T)
    R[t] = R[t - 1] * exp(0.1 * eps[t]);
  inf[1] = seed;
  for (t in 2:T) {
    real conv = 0;
    for (s in 1:min(S, t - 1))
      conv += inf[t - s] * gen[s];
    inf[t] = R[t] * conv;
  }
  for (t in 1:T) {
    ex[t] = 1e-3;
    for (s in 1:T)
      if (s < t)
        ex[t] += inf[s] * exp(-(t - s) * 0.3);
  }
}
model {
  eps ~ std_normal();
  seed ~ lognormal(1, 1);
  phi ~ exponential(1);
  c ~ neg_binomial_2(ex, phi + 0.5);
}
