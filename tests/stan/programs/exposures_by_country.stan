// Infections of several countries, each day by all days before it: columns of a matrix that are sums of the past.
data {
  int<lower=2> N;
  int<lower=1> M;
  vector<lower=0>[N] delay;
  array[M] int<lower=1> first;
  matrix[N, M] seen;
}
parameters {
  vector<lower=0>[M] seed;
  vector<lower=0, upper=1>[M] fatal;
  real<lower=0> noise;
}
transformed parameters {
  matrix[N, M] infected = rep_matrix(0, N, M);
  matrix[N, M] deaths = rep_matrix(0, N, M);
  for (m in 1:M) {
    infected[1:6, m] = rep_vector(seed[m], 6);
    for (i in 7:N) infected[i, m] = 0.9 * infected[i - 1, m] + 0.1 * seed[m];
    deaths[1, m] = 1e-3 * infected[1, m];
    for (i in 2:N)
      for (j in 1:(i - 1)) deaths[i, m] += infected[j, m] * delay[i - j] * fatal[m];
  }
}
model {
  seed ~ exponential(0.5);
  fatal ~ beta(2, 5);
  noise ~ normal(0, 1);
  for (m in 1:M) seen[first[m]:N, m] ~ normal(deaths[first[m]:N, m], noise);
}
