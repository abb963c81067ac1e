// An epidemic: new cases are a sum over all days before, and deaths another such sum.
data {
  int<lower=4> days;
  array[days] int<lower=0> deaths;
  vector[days] contagious;
  vector[days] fatal;
  real<lower=1> people;
}
parameters {
  real<lower=0> spread;
  real brake;
  real<lower=0> seeds;
  real<lower=0> precision;
}
transformed parameters {
  vector[days] cases = rep_vector(0, days);
  vector[days] expected = rep_vector(1e-6, days);
  {
    real so_far = 0;
    for (d in 1 : days) {
      if (d <= 3) {
        cases[d] = seeds;
      } else {
        real force = 0;
        for (back in 1 : d - 1) force += cases[d - back] * contagious[back];
        cases[d] = (1 - so_far / people) * spread * 2 * inv_logit(-brake * d / days) * force;
      }
      so_far += cases[d];
    }
  }
  for (d in 2 : days) {
    expected[d] += 0.05 * dot_product(cases[1 : d - 1], reverse(fatal[1 : d - 1]));
  }
}
model {
  seeds ~ exponential(0.1);
  spread ~ normal(2, 1);
  brake ~ normal(0, 1);
  precision ~ gamma(2, 0.2);
  deaths[3 : ] ~ neg_binomial_2(expected[3 : ], precision);
}
