// Measurements that stop at a bound: integrated out by distribution functions, and as parameters.
data {
  int<lower=0> read;
  int<lower=0> off_scale;
  array[read] real gauge;
  real<lower=max(gauge)> top;
  real bottom;
}
parameters {
  array[off_scale] real<lower=top> hidden;
  real level;
  real<lower=0> noise;
}
model {
  level ~ normal(0, 2);
  noise ~ normal(0, 2);
  gauge ~ normal(level, noise);
  hidden ~ normal(level, noise);
  target += off_scale * normal_lccdf(top | level, noise);
  target += 2 * normal_lcdf(bottom | level, noise) + log(normal_cdf(top | level, noise) - normal_cdf(bottom | level, noise));
  target += weibull_lccdf(2 | 1.5, noise) + gamma_lcdf(1.5 | noise + 1, 2) + lognormal_lccdf(square(gauge[1 : 2]) | level, noise);
  target += student_t_lcdf(-1 | 4, level, noise) + logistic_lccdf(2 | level, noise) + beta_lcdf(0.4 | noise + 0.5, 2);
}
