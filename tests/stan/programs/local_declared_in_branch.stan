// Variables that only a branch declares.
data {
  int N;
}
parameters {
  vector[N] x;
}
transformed parameters {
  real s = 0;
  vector[N] o;
  for (n in 1:N) {
    if (x[n] > 0) {
      vector[2] a;
      a[1] = x[n];
      a[2] = 1;
      o[n] = sum(a);
      s += a[1];
    } else {
      real b;
      b = -x[n];
      array[3] real q;
      for (i in 1:3)
        q[i] = b * i;
      o[n] = sum(q);
      s += b;
    }
  }
  if (x[1] > x[2]) {
    real z;
    z = x[1];
    s += z;
  }
}
model {
  x ~ std_normal();
  target += -0.1 * s - 0.1 * dot_self(o);
}
