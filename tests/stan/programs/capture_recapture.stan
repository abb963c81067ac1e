// Birds ringed and seen again: the chance never to be seen after a year, by a recurrence backwards.
functions {
  array[] int span_of(array[] int history) {
    array[2] int ends = {0, 0};
    for (year in 1 : size(history)) {
      if (history[year] == 1) {
        if (ends[1] == 0) ends[1] = year;
        ends[2] = year;
      }
    }
    return ends;
  }
  vector never_again(vector survive, vector sight) {
    int years = size(sight);
    vector[years] chance;
    chance[years] = 1;
    for (ahead in 1 : years - 1) {
      int year = years - ahead;
      real unseen = (1 - sight[year + 1]) * chance[year + 1];
      chance[year] = 1 - survive[year] + survive[year] * unseen;
    }
    return chance;
  }
}
data {
  int<lower=2> years;
  int<lower=1> birds;
  array[birds, years] int<lower=0, upper=1> seen;
}
transformed data {
  array[birds, 2] int<lower=0, upper=years> span;
  vector[years] ever = rep_vector(0, years);
  for (b in 1 : birds) {
    span[b] = span_of(seen[b]);
    for (year in 1 : years) ever[year] += seen[b, year];
  }
}
parameters {
  vector<lower=0, upper=1>[years - 1] survive;
  vector<lower=0, upper=1>[years] sight;
}
transformed parameters {
  vector<lower=0, upper=1>[years] lost = never_again(survive, sight);
}
model {
  survive ~ beta(4, 2);
  sight ~ beta(2, 2);
  for (b in 1 : birds) {
    if (span[b, 1] == 0) continue;
    for (year in span[b, 1] + 1 : span[b, 2]) {
      target += log(survive[year - 1]);
      seen[b, year] ~ bernoulli(sight[year]);
    }
    target += log(lost[span[b, 2]]);
  }
}
generated quantities {
  vector[years] population = ever ./ sight;
  real last_product = survive[years - 1] * sight[years];
}
