// While loops on parameters with terms, jumps, and lanes of their own.
functions {
  real solve(real a, real b) {
    real t = 1;
    int rounds = 0;
    while (rounds < 50) {
      real f = t * exp(t) - a;
      if (abs(f) < 1e-13) break;
      t -= f / (exp(t) * (1 + t));
      rounds += 1;
      if (b > 5) continue;
      t += 0;
    }
    return t;
  }
}
data {
  int N;
}
parameters {
  vector<lower=0>[N] x;
  real<lower=0> s;
}
transformed parameters {
  vector[N] w;
  for (n in 1 : N) w[n] = solve(x[n] + 0.1, s);
}
model {
  real level = s;
  x ~ exponential(1);
  s ~ lognormal(0, 1);
  while (level > 0.3) {
    target += -0.1 * square(level);
    level *= 0.6;
    if (level < x[1]) break;
    target += 0.05 * x[2];
  }
  target += -level;
  for (n in 1 : N) {
    real left = x[n];
    int rounds = 0;
    while (left > 0.2) {
      left = 0.7 * left - 0.01 * s;
      rounds += 1;
      target += -0.01 * left * n;
      if (rounds > 3) continue;
      target += -0.02 * w[n];
    }
    target += -0.1 * rounds * left;
  }
}
