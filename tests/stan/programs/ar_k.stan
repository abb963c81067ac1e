// An autoregression whose lags are added up by an inner loop.
data {
  int<lower=1> lags;
  int<lower=lags> len;
  array[len] real series;
}
parameters {
  real base;
  array[lags] real weight;
  real<lower=0> noise;
}
model {
  base ~ normal(0, 3);
  weight ~ normal(0, 1);
  noise ~ normal(0, 2);
  for (now in 1 + lags : len) {
    real expected = base;
    for (back in 1 : lags) {
      expected += weight[back] * series[now - back];
    }
    series[now] ~ normal(expected, noise);
  }
}
