// Sites that are taken and left, year by year.
data {
  int S;
  int Y;
  int V;
  array[S, Y, V] int y;
}
parameters {
  real<lower=0, upper=1> psi;
  vector<lower=0, upper=1>[Y - 1] phi;
  vector<lower=0, upper=1>[Y - 1] gam;
  vector<lower=0, upper=1>[Y] p;
}
model {
  for (s in 1:S) {
    vector[2] a;
    a[1] = log(psi);
    a[2] = log1m(psi);
    for (t in 1:Y) {
      if (t > 1) {
        vector[2] b;
        b[1] = log_sum_exp(a[1] + log(phi[t - 1]), a[2] + log(gam[t - 1]));
        b[2] = log_sum_exp(a[1] + log1m(phi[t - 1]), a[2] + log1m(gam[t - 1]));
        a = b;
      }
      a[1] += bernoulli_lpmf(y[s, t] | p[t]);
      if (sum(y[s, t]) > 0)
        a[2] = negative_infinity();
    }
    target += log_sum_exp(a);
  }
}
