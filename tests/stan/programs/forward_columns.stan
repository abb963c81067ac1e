// A chain of hidden states, whose forward probabilities are columns of a matrix.
data {
  int<lower=2> K;
  int<lower=2> T;
  vector[T] y;
}
parameters {
  array[K] simplex[K] moves;
  ordered[K] level;
  real<lower=0> noise;
}
transformed parameters {
  matrix[K, T] forward;
  for (t in 1:T)
    for (k in 1:K) {
      forward[k, t] = normal_lpdf(y[t] | level[k], noise);
      if (t == 1) {
        forward[k, t] -= log(K);
      } else {
        vector[K] from;
        for (j in 1:K) from[j] = forward[j, t - 1] + log(moves[j, k]);
        forward[k, t] += log_sum_exp(from);
      }
    }
}
model {
  level ~ normal(0, 2);
  noise ~ normal(0, 1);
  for (k in 1:K) moves[k] ~ dirichlet(rep_vector(1.5, K));
  target += log_sum_exp(forward[:, T]);
}
generated quantities {
  vector[K] now = softmax(forward[:, T]);
}
