// Animals that are marked and seen again: survival and sight differ by year, as columns of a matrix.
functions {
  int first_seen(array[] int seen) {
    for (t in 1:size(seen))
      if (seen[t]) return t;
    return 0;
  }
  int last_seen(array[] int seen) {
    int last = 0;
    for (t in 1:size(seen)) if (seen[t] == 1) last = t;
    return last;
  }
  matrix never_again(matrix stays, matrix sight) {
    int years = cols(stays) + 1;
    matrix[rows(stays), years] chi;
    chi[:, years] = ones_vector(rows(stays));
    for (back in 1:(years - 1)) {
      int t = years - back;
      chi[:, t] = (1 - stays[:, t]) + stays[:, t] .* (1 - sight[:, t]) .* chi[:, t + 1];
    }
    return chi;
  }
}
data {
  int<lower=1> I;
  int<lower=3> T;
  array[I, T] int<lower=0, upper=1> seen;
  vector[I] weight;
}
transformed data {
  array[I] int first;
  array[I] int last;
  for (i in 1:I) {
    first[i] = first_seen(seen[i]);
    last[i] = last_seen(seen[i]);
  }
}
parameters {
  vector[T - 1] year;
  real<lower=0> year_sd;
  real mean_stay;
  real by_weight;
  vector<lower=0, upper=1>[T - 1] sight_of_year;
}
transformed parameters {
  matrix[I, T - 1] stays;
  matrix[I, T - 1] sight;
  for (t in 1:(T - 1)) {
    stays[:, t] = inv_logit(mean_stay + year_sd * year[t] + by_weight * weight);
    for (i in 1:I) sight[i, t] = t < first[i] ? 0 : sight_of_year[t];
  }
  matrix[I, T] chi = never_again(stays, sight);
}
model {
  year ~ std_normal();
  year_sd ~ normal(0, 1);
  mean_stay ~ normal(1, 1);
  by_weight ~ normal(0, 1);
  for (i in 1:I) {
    if (first[i] == 0) continue;
    for (t in (first[i] + 1):last[i]) {
      1 ~ bernoulli(stays[i, t - 1]);
      seen[i, t] ~ bernoulli(sight[i, t - 1]);
    }
    1 ~ bernoulli(chi[i, last[i]]);
  }
}
