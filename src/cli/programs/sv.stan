// Stochastic volatility: returns whose scale walks. Made up with sigma = 0.15, nu = 10.
data {
  int<lower=1> T;
  vector[T] r;
}
parameters {
  real<lower=0> sigma;
  real<lower=0> nu;
  vector[T] s;
}
model {
  sigma ~ exponential(50);
  nu ~ exponential(0.1);
  s[1] ~ normal(0, sigma);
  s[2:T] ~ normal(s[1:T - 1], sigma);
  r ~ student_t(nu, 0, exp(s));
}
