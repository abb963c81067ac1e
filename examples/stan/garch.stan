// GARCH(1,1): the variance of today follows yesterday's surprise and yesterday's variance.
data {
  int<lower=2> T;
  vector[T] y;
  real<lower=0> start;
}
parameters {
  real mu;
  real<lower=0> omega;
  real<lower=0, upper=1> alpha;
  real<lower=0, upper=1 - alpha> beta;
}
transformed parameters {
  vector<lower=0>[T] variances;
  variances[1] = square(start);
  for (t in 2 : T) {
    variances[t] = omega + alpha * square(y[t - 1] - mu) + beta * variances[t - 1];
  }
}
model {
  mu ~ normal(0, 1);
  omega ~ exponential(2);
  y ~ normal(mu, sqrt(variances));
}
generated quantities {
  real persistence = alpha + beta;
}
