// Recurrences of different lengths: one long, some short, one empty; by rows, by a number, and flat.
data {
  int I;
  int T;
  array[I] int len;
  matrix[I, T] y;
  int M;
  array[I] int start;
}
parameters {
  real<lower=0, upper=1> rho;
  vector[I] m;
  real<lower=0> s;
}
transformed parameters {
  matrix[I, T] h = rep_matrix(0, I, T);
  vector[I] last;
  vector[M] flat = rep_vector(0.1, M);
  for (i in 1 : I) {
    h[i, 1] = m[i];
    for (t in 2 : len[i])
      h[i, t] = rho * h[i, t - 1] + (1 - rho) * y[i, t] * s;
  }
  for (i in 1 : I) {
    real v = m[i];
    for (t in 1 : len[i]) {
      v = rho * v + y[i, t];
      if (v > 1.5) continue;
      v += 0.1 * s;
    }
    last[i] = v;
  }
  for (i in 1 : I) {
    for (t in 1 : len[i]) {
      if (t > 2)
        flat[start[i] + t - 1] = rho * flat[start[i] + t - 2] + flat[start[i] + t - 3] * s;
      else
        flat[start[i] + t - 1] = m[i];
    }
  }
}
model {
  m ~ std_normal();
  s ~ exponential(1);
  for (i in 1 : I) {
    real mu = m[i];
    for (t in 1 : len[i]) {
      y[i, t] ~ normal(mu, s + 0.5);
      mu = rho * mu + (1 - rho) * y[i, t];
    }
  }
  target += -0.01 * sum(h) - 0.1 * sum(last) - 0.01 * dot_self(flat);
}
