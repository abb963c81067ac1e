// Arrays of tuples by lists of places and ranges, read and written; calls that end by either side of a
// condition; systems without an equation.
functions {
  real shrunk(real a, int depth) {
    if (a < 0.1 || depth > 3) return a;
    return 0.5 * shrunk(a * 0.6, depth + 1);
  }
  real halved(real a, int depth) {
    if (!(depth <= 3 && a > -0.5)) return a;
    return 0.5 * halved(a - 0.3, depth + 1);
  }
}
data {
  int none;
}
transformed data {
  array[3] tuple(real, int) t = {(1.5, 1), (2.5, 2), (3.5, 3)};
  array[2] tuple(real, int) u = t[2:3];
  t[1:2] = t[{3, 3}];
  array[2, 2] tuple(real, vector[2]) w = {{(1, [2, 3]'), (4, [5, 6]')}, {(7, [8, 9]'), (10, [11, 12]')}};
  array[2] tuple(real, vector[2]) column = w[, 2];
  vector[2] v = [1, 2]';
  matrix[2, 2] outer = v * v';
  int rounds = 0;
  while (outer[2, 2] < 9) {
    outer[2, 2] += 1.5;
    rounds += 1;
  }
  matrix[none, none] empty;
  real of_nothing = sum(inverse(empty)) + sum(empty \ empty) + sum(empty / empty);
}
parameters {
  real x;
  array[2] tuple(real, real<lower=0>) p;
}
model {
  array[2] tuple(real, real) q = p[{2, 1}];
  array[3] tuple(real, real) z;
  z[1:2] = q;
  z[3] = p[2:][1];
  x ~ normal(shrunk(x, 0) + halved(x, 0) + t[2].1 + u[1].2 + outer[2, 2] + rounds + of_nothing, 20);
  for (i in 1:3) z[i].1 ~ normal(column[1].1 + w[{2, 1}][1, 1].2[2], 3);
  p[{1, 2}][2].2 ~ exponential(z[2].2 + 1);
  p[1].2 ~ exponential(1);
}
generated quantities {
  array[2] tuple(real, real) twice = p[{1, 1}];
  real first = twice[2].1 + x;
}
