// Words of documents, each of one topic, which is summed out.
data {
  int<lower=2> K;
  int<lower=2> V;
  int<lower=1> M;
  int<lower=1> N;
  array[N] int<lower=1, upper=V> word;
  array[N] int<lower=1, upper=M> doc;
  vector<lower=0>[K] alpha;
  vector<lower=0>[V] beta;
}
parameters {
  array[M] simplex[K] theta;
  array[K] simplex[V] phi;
}
model {
  for (m in 1:M) theta[m] ~ dirichlet(alpha);
  for (k in 1:K) phi[k] ~ dirichlet(beta);
  for (n in 1:N) {
    array[K] real lp;
    for (k in 1:K) lp[k] = log(theta[doc[n], k]) + log(phi[k, word[n]]);
    target += log_sum_exp(lp);
  }
}
generated quantities {
  array[K] int top;
  for (k in 1:K) {
    top[k] = 1;
    for (v in 2:V)
      if (phi[k, v] > phi[k, top[k]]) top[k] = v;
  }
}
