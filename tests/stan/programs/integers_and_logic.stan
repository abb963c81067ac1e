// Integer arithmetic, logic, nested choices and functions of integers.
data {
  int N;
  array[N] int a;
  array[N] int b;
}
transformed data {
  array[N] int q;
  array[N] int r;
  array[N] int flag;
  int biggest = max(a);
  int total = sum(a) - sum(b);
  int lesser = min(3, max(a[1], b[1]));
  for (n in 1 : N) {
    q[n] = a[n] %/% b[n];
    r[n] = a[n] % b[n];
    if (a[n] > b[n] && r[n] != 0) flag[n] = 2;
    else if (a[n] == b[n] || !r[n]) flag[n] = 1;
    else flag[n] = -abs(a[n] - b[n]);
  }
}
parameters {
  vector[3] x;
}
model {
  x ~ normal(0, 1);
  for (n in 1 : N) {
    target += 0.01 * (q[n] * x[1] + r[n] * x[2] + flag[n] * x[3]);
    if (flag[n] == 2) {
      if (q[n] > 1) target += 0.1 * x[1];
      else target += -0.1 * square(x[2]);
    } else if (flag[n] == 1) {
      target += 0.05 * x[3] * x[1];
    }
  }
  target += 0.01 * biggest * x[1] + 0.01 * total * x[2] + 0.01 * lesser * x[3] + 0.01 * to_int(3.7) * x[1];
  target += (x[1] > 0 ? 0.1 : -0.1) * x[1] + 1 / 2 * x[1] + 1 / 2.0 * x[2] * 0.1 - -0.1 * x[3] + 2 ^ 3 * 0.01 * x[1];
}
