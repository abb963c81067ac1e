// What dies away fast, in each patient by rates of his own, after each of some doses.
functions {
  vector flow(real t, vector y, real fast, real slow) {
    return [-fast * (y[1] - y[2]), -slow * y[2] / (1 + y[2]) + 0.1 * cos(t)]';
  }
}
data {
  int J;
  int D;
  int T;
  array[T] real after;
  array[J, D] vector[T] seen;
}
parameters {
  real<lower=0> fast;
  vector<lower=0>[J] slow;
  real<lower=0> sigma;
}
model {
  fast ~ lognormal(0, 0.3);
  slow ~ lognormal(0, 0.3);
  sigma ~ normal(0, 1);
  for (j in 1 : J) {
    vector[2] amount = rep_vector(0.5, 2);
    for (d in 1 : D) {
      amount[1] += 1;
      array[T] vector[2] y = ode_bdf_tol(flow, amount, 0.0, after, 1e-8, 1e-10, 100000, 200 * fast, slow[j]);
      for (t in 1 : T) seen[j, d][t] ~ normal(y[t][2], sigma);
      amount = y[T];
    }
  }
}
