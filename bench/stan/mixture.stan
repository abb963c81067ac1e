data {
  int row_count;
  vector[row_count] y;
}
parameters {
  simplex[3] weight;
  ordered[3] mu;
  vector<lower=0>[3] sigma;
}
model {
  vector[3] log_weight = log(weight);
  weight ~ dirichlet(rep_vector(2, 3));
  mu ~ normal(0, 5);
  sigma ~ normal(0, 2);
  for (i in 1:row_count) {
    vector[3] term = log_weight;
    for (k in 1:3) term[k] += normal_lpdf(y[i] | mu[k], sigma[k]);
    target += log_sum_exp(term);
  }
}
