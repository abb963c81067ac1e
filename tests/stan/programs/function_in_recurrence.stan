// A function with a loop and a branch as the step of a recurrence.
functions {
  vector move(vector s, real u) {
    vector[2] n;
    for (i in 1:2)
      n[i] = s[3 - i] * 0.5 + u;
    if (n[1] > 0)
      n[1] = n[1] * 0.9;
    else {
      real z = n[2];
      n[2] = z + 0.1;
    }
    return n;
  }
}
data {
  int T;
  vector[T] y;
}
parameters {
  vector[T] u;
  vector[2] s0;
}
model {
  vector[2] s = s0;
  for (t in 1:T) {
    s = move(s, u[t]);
    y[t] ~ normal(sum(s), 1);
  }
  u ~ std_normal();
  s0 ~ std_normal();
}
