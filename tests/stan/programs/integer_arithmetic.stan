// Integer division and remainders of negative numbers, in loops.
data {
  int N;
  array[N] int a;
  array[N] int b;
}
parameters {
  vector[N] x;
}
model {
  int t = 0;
  for (n in 1:N) {
    int q = a[n] %/% b[n];
    int r = a[n] % b[n];
    int u = (a[n] * 3 + 1) / b[n];
    t += q * r;
    target += 0.1 * x[n] * (q - r + u) + abs(a[n]) * 0.01
              - max({q, r, u}) * x[n] * 0.01;
    if (r == 0 || q > 2)
      target += x[n];
    target += (t > 5 && !(r == 1)) * x[n];
  }
  x ~ std_normal();
  target += t * x[1] * 0.001;
}
