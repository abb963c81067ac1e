// Predictors and outcome in units of their standard deviation.
data {
  int<lower=2> N;
  vector[N] x1;
  vector[N] x2;
  vector[N] y;
}
transformed data {
  vector[N] z1 = (x1 - mean(x1)) / sd(x1);
  vector[N] z2;
  vector[N] zy = (y - mean(y)) / sd(y);
  real spread = sqrt(variance(x2));
  z2 = (x2 - mean(x2)) / spread;
}
parameters {
  real alpha;
  array[2] real beta;
  real<lower=0> sigma;
}
transformed parameters {
  vector[N] fit = alpha + beta[1] * z1 + beta[2] * z2 + beta[1] * beta[2] * (z1 .* z2);
}
model {
  alpha ~ normal(0, 1);
  beta ~ student_t(3, 0, 2.5);
  sigma ~ student_t(4, 0, 1) T[0, ];
  zy ~ normal(fit, sigma);
}
generated quantities {
  real r_squared = variance(fit) / (variance(fit) + square(sigma));
}
