// Catches with too many zeros: a choice on data in a loop, and the same by counts of a function.
functions {
  int count_of(array[] int list, int wanted) {
    int found = 0;
    for (entry in list) {
      found += entry == wanted;
    }
    return found;
  }
}
data {
  int<lower=0> trips;
  array[trips] int<lower=0> caught;
}
transformed data {
  int<lower=0> empty_trips = count_of(caught, 0);
  array[trips - empty_trips] int<lower=1> good;
  {
    int next = 0;
    for (i in 1 : trips) {
      if (caught[i] == 0) continue;
      next += 1;
      good[next] = caught[i];
    }
  }
}
parameters {
  real<lower=0, upper=1> idle;
  real<lower=0> rate;
}
model {
  rate ~ gamma(2, 0.5);
  for (i in 1 : trips) {
    if (caught[i] > 0) {
      target += log1m(idle) + poisson_lpmf(caught[i] | rate);
    } else {
      target += log_sum_exp(log(idle), log1m(idle) - rate);
    }
  }
  target += 0.01 * (empty_trips * log_mix(idle, 0, poisson_lpmf(0 | rate)) + size(good) * log1m(idle)
                    + poisson_lpmf(good | rate));
}
