// Sums of integers are integers, also of parts whose size follows from parameters; and integers have no -0.
data {
  int N;
  array[N] int a;
}
parameters {
  vector[3] th;
}
model {
  int n = th[1] > 0 ? 5 : 7;
  array[N] int q;
  int zero = th[2] > 0 ? 0 : 0;
  th ~ normal(0, 1);
  target += th[1] * (sum(a[1 : n]) / 4);
  for (i in 1 : N) q[i] = a[i] + (th[1] > 0);
  for (i in 1 : N) target += th[2] * (sum(q[1 : i]) / 4);
  for (i in 1 : N) target += th[2] * (sum(a[1 : (i + n) %/% 2]) / 3);
  if (1.0 / ((-1) / 2) > 0) target += th[1];
  if (1.0 / -zero > 0) target += 2 * th[2];
  if (1.0 / (-3 * zero) > 0) target += 3 * th[3];
  if (1.0 / ((-4 - zero) % 2) > 0) target += 4 * th[1];
  if (1.0 / ((-1 - zero) %/% 2) > 0) target += 5 * th[2];
}
