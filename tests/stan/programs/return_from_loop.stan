// Functions that return from inside of loops, under conditions on parameters and on data.
functions {
  real first_above(vector x, real c) {
    for (n in 1 : num_elements(x)) {
      if (x[n] > c) return x[n] - c;
    }
    return -1;
  }
  int place_above(vector x, real c) {
    for (n in 1 : num_elements(x))
      if (x[n] > c) return n;
    return 0;
  }
  vector run_up(vector x, real c) {
    vector[num_elements(x)] s = rep_vector(0, num_elements(x));
    for (n in 1 : num_elements(x)) {
      s[n] = n == 1 ? x[1] : s[n - 1] + x[n];
      if (s[n] > c) return s;
    }
    return s / 2;
  }
  real nested(matrix a, real c) {
    real total = 0;
    for (i in 1 : rows(a)) {
      for (j in 1 : cols(a)) {
        if (a[i, j] > c) return total;
        if (a[i, j] < -c) break;
        total += a[i, j];
      }
      total *= 0.9;
    }
    return total + 1;
  }
  real halve(real x0) {
    real x = x0;
    while (1) {
      x = 0.5 * x + 0.01;
      if (abs(x) < 0.05) return x * 3;
    }
    return 0;
  }
  void push_lp(vector x, real c) {
    for (n in 1 : num_elements(x)) {
      if (x[n] > c) return;
      target += -0.1 * x[n];
    }
    target += -c;
  }
  void once_lp(real x) {
    if (x > 0) return;
    target += -square(x);
  }
}
data {
  int N;
  int G;
  vector[N] d;
}
parameters {
  vector[N] x;
  matrix[4, 5] a;
  real<lower=0> c;
}
model {
  x ~ std_normal();
  to_vector(a) ~ std_normal();
  c ~ exponential(1);
  target += first_above(x, c) + first_above(d, c) + 0.1 * first_above(d, 0.5);
  target += -0.1 * dot_self(run_up(x, c)) + 0.1 * nested(a, c + 0.5);
  for (g in 1 : G)
    target += 0.1 * first_above(x[1 : 6], g * 0.1) + 0.1 * first_above(x, x[g]);
  target += halve(x[1]) + halve(x[2] - c);
  push_lp(x, c);
  once_lp(x[3]);
  for (g in 1 : G) once_lp(x[g]);
}
generated quantities {
  int at = place_above(x, 0.2);
  array[G] int many;
  real picked = at > 0 ? x[at] : 0;
  for (g in 1 : G) many[g] = place_above(x, 0.1 * g);
}
