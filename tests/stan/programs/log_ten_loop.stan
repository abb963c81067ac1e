// Logarithms to base 10 by a loop in transformed data, integer arithmetic, and a prior with half Cauchy.
data {
  int<lower=0> N;
  array[N] real<lower=0> weight;
  array[N] real<lower=0> height;
}
transformed data {
  array[N] real log_weight;
  array[N] real log_height;
  int half = N %/% 2;
  int rest = N % 2;
  real centre;
  for (n in 1 : N) {
    log_weight[n] = log10(weight[n]);
    log_height[n] = log10(height[n]);
  }
  centre = mean(log_height[1 : half + rest]);
}
parameters {
  vector[2] beta;
  real<lower=0> sigma;
}
model {
  sigma ~ cauchy(0, 2.5);
  for (n in 1 : N) {
    log_weight[n] ~ normal(beta[1] + beta[2] * (log_height[n] - centre), sigma);
  }
}
generated quantities {
  real at_two = beta[1] + beta[2] * (log10(2) - centre) + log10() * 0 + log2() * 0;
}
