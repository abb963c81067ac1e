// Loops over elements of arrays, vectors and matrices.
data {
  int N;
  array[N] int k;
  vector[N] x;
  matrix[2, 3] m;
  array[2] vector[N] vs;
}
parameters {
  real a;
  real<lower=0> s;
  vector[3] b;
}
model {
  a ~ logistic(0, 2);
  s ~ inv_gamma(3, 2);
  for (e in x) {
    e ~ normal(a, s);
  }
  for (i in k) {
    target += -0.1 * i * square(a);
  }
  for (e in m) {
    target += -0.01 * (e - b[1]) ^ 2;
  }
  for (v in vs) {
    v ~ normal(b[2], 1 + s);
  }
  for (e in b) {
    target += normal_lpdf(e | 0, 3);
  }
}
