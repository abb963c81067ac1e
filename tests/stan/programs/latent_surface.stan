// Presence of a plant along two gradients, by a latent process whose covariance is filled by hand.
data {
  int<lower=1> N;
  array[N] vector[2] x;
  array[N] int<lower=0, upper=1> present;
}
parameters {
  vector<lower=0>[2] reach;
  real<lower=0> height;
  real level;
  vector[N] z;
}
transformed parameters {
  vector[N] f;
  {
    matrix[N, N] cov;
    for (i in 1:(N - 1)) {
      cov[i, i] = square(height) + 1e-6;
      for (j in (i + 1):N) {
        cov[i, j] = square(height) * exp(-0.5 * dot_self((x[i] - x[j]) ./ reach));
        cov[j, i] = cov[i, j];
      }
    }
    cov[N, N] = square(height) + 1e-6;
    f = cholesky_decompose(cov) * z;
  }
}
model {
  reach ~ inv_gamma(4, 3);
  height ~ normal(0, 1.5);
  level ~ normal(0, 1);
  z ~ std_normal();
  present ~ bernoulli_logit(level + f);
}
generated quantities {
  real share = mean(inv_logit(level + f));
}
