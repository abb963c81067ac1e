// A recurrence from the end by index arithmetic.
data {
  int N;
  vector[N] y;
}
parameters {
  vector[N] e;
  real<lower=0, upper=1> g;
}
transformed parameters {
  vector[N] z;
  vector[N] w;
  z[N] = e[N];
  for (i in 1:(N - 1))
    z[N - i] = e[N - i] + g * z[N - i + 1];
  for (i in 1:N)
    w[N - i + 1] = z[i] * i;
}
model {
  e ~ std_normal();
  y ~ normal(z, 1);
  target += -0.001 * dot_self(w);
}
