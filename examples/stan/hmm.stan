// A hidden Markov model with Gaussian observations: the forward algorithm sums over the paths of states.
data {
  int<lower=1> K;
  int<lower=2> T;
  vector[T] y;
}
parameters {
  simplex[K] first;
  array[K] simplex[K] move;
  ordered[K] mu;
  real<lower=0> sigma;
}
transformed parameters {
  array[T] vector[K] forward;
  for (k in 1 : K) {
    forward[1, k] = log(first[k]) + normal_lpdf(y[1] | mu[k], sigma);
  }
  for (t in 2 : T) {
    for (k in 1 : K) {
      vector[K] paths;
      for (j in 1 : K) {
        paths[j] = forward[t - 1, j] + log(move[j, k]);
      }
      forward[t, k] = log_sum_exp(paths) + normal_lpdf(y[t] | mu[k], sigma);
    }
  }
}
model {
  for (k in 1 : K) {
    move[k] ~ dirichlet(1 + 4 * one_hot_vector(K, k));
  }
  mu ~ normal(0, 3);
  sigma ~ normal(0, 2);
  target += log_sum_exp(forward[T]);
}
generated quantities {
  vector[K] last = softmax(forward[T]);
}
