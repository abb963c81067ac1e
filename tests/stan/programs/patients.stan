// A drug that is swallowed: gut, blood, tissue; each patient has rates of his own.
functions {
  vector flow(real t, vector amount, real absorbed, real out, real to_tissue, real back) {
    vector[3] change;
    change[1] = -absorbed * amount[1];
    change[2] = absorbed * amount[1] - (out + to_tissue) * amount[2] + back * amount[3];
    change[3] = to_tissue * amount[2] - back * amount[3];
    return change;
  }
}
data {
  int<lower=1> J;
  int<lower=1> T;
  array[T] real<lower=0> hours;
  vector<lower=0>[J] dose;
  array[J, T] real<lower=0> level;
}
parameters {
  real<lower=0> volume;
  real<lower=0> to_tissue;
  real<lower=0> back;
  vector<lower=0>[2] typical;
  vector<lower=0>[2] between;
  matrix[2, J] z;
  real<lower=0> noise;
}
transformed parameters {
  matrix<lower=0>[2, J] rate;
  array[J, T] real predicted;
  for (j in 1:J) rate[:, j] = typical .* exp(between .* z[:, j]);
  for (j in 1:J) {
    vector[3] start = [dose[j], 0, 0]';
    array[T] vector[3] amount = ode_rk45_tol(flow, start, 0, hours, 1e-8, 1e-10, 10000, rate[1, j], rate[2, j],
                                             to_tissue, back);
    for (t in 1:T) predicted[j, t] = fmax(amount[t, 2] / volume, 1e-8);
  }
}
model {
  volume ~ lognormal(1, 0.5);
  to_tissue ~ lognormal(-1, 0.5);
  back ~ lognormal(-1, 0.5);
  typical ~ lognormal(0, 0.5);
  between ~ normal(0, 0.3);
  to_vector(z) ~ std_normal();
  noise ~ normal(0, 0.5);
  for (j in 1:J) level[j] ~ lognormal(log(predicted[j]), noise);
}
