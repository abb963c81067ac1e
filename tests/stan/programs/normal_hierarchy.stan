// Growth of plants by week: a line for each plant, variances as parameters and their roots derived.
data {
  int<lower=0> plants;
  int<lower=0> weeks;
  array[weeks] real week;
  array[plants, weeks] real height;
}
transformed data {
  real middle = mean(week);
}
parameters {
  array[plants] real size_of;
  array[plants] real speed;
  real typical_size;
  real typical_speed;
  array[3] real<lower=0> variances;
}
transformed parameters {
  array[3] real<lower=0> roots = sqrt(variances);
}
model {
  typical_size ~ normal(0, 20);
  typical_speed ~ normal(0, 5);
  variances ~ inv_gamma(0.5, 0.5);
  size_of ~ normal(typical_size, roots[2]);
  speed ~ normal(typical_speed, roots[3]);
  for (p in 1 : plants) {
    for (w in 1 : weeks) {
      height[p, w] ~ normal(size_of[p] + speed[p] * (week[w] - middle), roots[1]);
    }
  }
}
generated quantities {
  real at_start = typical_size - middle * typical_speed;
}
