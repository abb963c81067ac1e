// Conditions on data around conditions on parameters, with a carried number.
data {
  int N;
  array[N] int g;
  vector[N] y;
}
parameters {
  vector[N] x;
  real c;
}
model {
  real carry = 0;
  for (n in 1:N) {
    real m;
    if (g[n] == 1) {
      m = x[n];
      if (x[n] > c)
        carry = m;
      else
        carry += 0.5 * m;
    } else if (g[n] == 2)
      m = carry;
    else {
      m = 2 * x[n];
      carry *= 0.5;
    }
    y[n] ~ normal(m, 1);
  }
  x ~ std_normal();
  c ~ std_normal();
}
