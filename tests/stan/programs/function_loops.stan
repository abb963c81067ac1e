// Recurrences inside of functions that loops call.
functions {
  vector walk(vector e, real r) {
    int n = num_elements(e);
    vector[n] x;
    x[1] = e[1];
    for (i in 2:n)
      x[i] = r * x[i - 1] + e[i];
    return x;
  }
  real total(array[] vector es, real r) {
    real s = 0;
    for (i in 1:size(es))
      s += dot_self(walk(es[i], r));
    return s;
  }
  void add_lp(vector x) {
    for (i in 1:num_elements(x))
      target += -square(x[i]) * i;
  }
}
data {
  int G;
  int T;
}
parameters {
  array[G] vector[T] e;
  real<lower=-1, upper=1> r;
}
model {
  for (g in 1:G) {
    e[g] ~ std_normal();
    add_lp(walk(e[g], r));
  }
  target += -0.01 * total(e, r);
}
