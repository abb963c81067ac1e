data {
  int row_count;
  vector[row_count] y;
}
parameters {
  simplex[3] chance[3];
  ordered[3] mu;
  vector<lower=0>[3] sigma;
}
model {
  vector[3] log_chance_to[3];
  vector[3] forward;
  for (j in 1:3) {
    for (i in 1:3) log_chance_to[j][i] = log(chance[i][j]);
    chance[j] ~ dirichlet(rep_vector(2, 3));
  }
  mu ~ normal(0, 3);
  sigma ~ normal(0, 1);
  for (k in 1:3) forward[k] = normal_lpdf(y[1] | mu[k], sigma[k]);
  for (t in 2:row_count) {
    vector[3] next;
    for (k in 1:3) next[k] = log_sum_exp(forward + log_chance_to[k]) + normal_lpdf(y[t] | mu[k], sigma[k]);
    forward = next;
  }
  target += log_sum_exp(forward);
}
