// Blocks within blocks with names of their own, and profiles.
data {
  int N;
  vector[N] y;
}
transformed data {
  real total = 0;
  {
    vector[N] twice = 2 * y;
    {
      real half = 0.5;
      total += half * sum(twice);
    }
    real late = 0.25;
    total += late;
  }
}
parameters {
  real mu;
  real<lower=0> sigma;
}
transformed parameters {
  real a;
  {
    real b = exp(mu);
    a = b + sigma;
  }
}
model {
  profile("priors") {
    mu ~ normal(total / N, 1);
    sigma ~ lognormal(0, 1);
  }
  {
    real a1 = a;
    for (i in 1 : 2) {
      real a2 = a1 + i;
      a1 = a2 * 0.5;
    }
    target += -0.1 * square(a1);
  }
  profile("likelihood") {
    y ~ normal(mu, sigma);
  }
  ;
}
