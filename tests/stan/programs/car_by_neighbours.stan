// Neighbours in ragged lists, with one that has none.
data {
  int N;
  array[N] int deg;
  array[N, 4] int nb;
  vector[N] y;
}
parameters {
  vector[N] phi;
  real<lower=0, upper=1> rho;
  real<lower=0> tau;
}
model {
  for (i in 1:N) {
    real m = 0;
    for (k in 1:deg[i])
      m += phi[nb[i, k]];
    if (deg[i] > 0)
      phi[i] ~ normal(rho * m / deg[i], tau / sqrt(deg[i]));
    else
      phi[i] ~ normal(0, tau);
  }
  y ~ normal(phi, 1);
  tau ~ exponential(1);
}
