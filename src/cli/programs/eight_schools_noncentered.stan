// Effects of coaching in eight schools (Rubin 1981), non-centred: the population's spread scales standard normals.
data {
  int<lower=0> J;
  vector[J] y;
  vector<lower=0>[J] sigma;
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[J] z;
}
transformed parameters {
  vector[J] theta = mu + tau * z;
}
model {
  mu ~ normal(0, 5);
  tau ~ cauchy(0, 5);
  z ~ std_normal();
  y ~ normal(theta, sigma);
}
