// The last round for which something holds, and a count both ways.
data {
  int N;
  array[N] int g;
}
parameters {
  vector[N] x;
  real c;
}
model {
  int count = 0;
  int last = 0;
  real kept = 0;
  for (n in 1:N) {
    if (x[n] > 0) {
      count += 1;
      last = n;
    } else
      count -= 1;
  }
  for (n in 1:N) {
    if (g[n] == 1) {
      if (x[n] > c)
        kept = x[n];
      else
        kept = 0.5 * x[n] + kept;
    }
    target += kept;
  }
  target += 0.3 * count + 0.01 * last * x[1];
  x ~ std_normal();
  c ~ std_normal();
}
