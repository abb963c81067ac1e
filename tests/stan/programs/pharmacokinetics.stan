// A function that returns from inside of its loop.
functions {
  real conc(real t, array[] real dose, array[] real when, real ka, real ke,
            real v) {
    real c = 0;
    for (d in 1:size(dose)) {
      if (when[d] > t)
        return c;
      c += dose[d] * ka / (v * (ka - ke))
           * (exp(-ke * (t - when[d])) - exp(-ka * (t - when[d])));
    }
    return c;
  }
}
data {
  int N;
  array[N] real t;
  vector[N] y;
  array[3] real dose;
  array[3] real when;
}
parameters {
  real<lower=0> ka;
  real<lower=0> ke;
  real<lower=0> v;
}
model {
  for (n in 1:N)
    y[n] ~ normal(conc(t[n], dose, when, ka + ke + 0.1, ke, v), 0.5);
  ka ~ lognormal(0, .3);
  ke ~ lognormal(-1, .3);
  v ~ lognormal(0, .3);
}
