// Between its first and its last catch an animal lived; after the last one it may have died or have been missed.
functions {
  int edge(array[] int caught, int backwards) {
    int n = size(caught);
    for (i in 1:n) {
      int at = backwards ? n - i + 1 : i;
      if (caught[at] == 1)
        return at;
    }
    return 0;
  }
}
data {
  int animals;
  int years;
  array[animals, years] int caught;
}
transformed data {
  array[animals, 2] int span;
  for (a in 1:animals)
    span[a] = {edge(caught[a], 0), edge(caught[a], 1)};
}
parameters {
  vector<lower=0, upper=1>[years] live;
  vector<lower=0, upper=1>[years] trap;
}
transformed parameters {
  vector[years] unseen = rep_vector(1, years);
  for (back in 1:(years - 1))
    unseen[years
           - back] = 1
                     - live[years - back]
                       * (1
                          - (1 - trap[years - back + 1])
                            * unseen[years - back + 1]);
}
model {
  for (a in 1:animals) {
    if (span[a, 1] == 0)
      continue;
    for (y in (span[a, 1] + 1):span[a, 2])
      target += log(live[y - 1]) + bernoulli_lpmf(caught[a, y] | trap[y]);
    target += log(unseen[span[a, 2]]);
  }
}
