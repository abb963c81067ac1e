// Scratch paper that is not fresh in every round: what an earlier round left is read.
data {
  int N;
  array[N] int kind;
  vector[N] y;
}
parameters {
  vector[3] a;
  real<lower=0> s;
}
model {
  vector[3] last;
  vector[2] both;
  array[N] real left;
  a ~ normal(0, 1);
  s ~ exponential(1);
  for (n in 1:N) {
    both[1] = a[kind[n]] * 0.5;
    if (n == 1) {
      last = a;
    } else if (kind[n] == 2) {
      last[2] = last[1] * 0.5 + y[n - 1];
    }
    last[kind[n]] = last[kind[n]] + 0.1 * s;
    both[2] = last[3];
    y[n] ~ normal(both[1] + both[2] + last[1], s);
  }
  for (n in 1:N) {
    if (kind[n] != 3) left[kind[n]] = a[kind[n]] * n;
    if (n > 8) target += left[1] * 0.01 + left[2] * 0.02;
  }
}
