// Counts of topics: simplexes in arrays, multinomial densities and the sum over both.
data {
  int<lower=2> K;
  int<lower=1> M;
  array[M, K] int<lower=0> counts;
}
parameters {
  array[M] simplex[K] theta;
  real<lower=0> kappa;
  simplex[K] centre;
}
transformed parameters {
  vector<lower=0>[K] alpha = kappa * centre;
}
model {
  kappa ~ pareto(0.1, 1.5);
  centre ~ dirichlet(rep_vector(2.0, K));
  theta ~ dirichlet(alpha + 0.5);
  for (m in 1 : M) {
    counts[m] ~ multinomial(theta[m]);
    target += 0.5 * dirichlet_multinomial_lpmf(counts[m] | alpha);
  }
}
generated quantities {
  vector[M] entropy;
  for (m in 1 : M) entropy[m] = -sum(theta[m] .* log(theta[m]));
}
