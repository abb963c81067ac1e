// Every compound assignment, on scalars, containers and parts of them.
data {
  int N;
  vector[N] x;
}
transformed data {
  int k = 7;
  array[3] int ks = {5, 6, 7};
  vector[N] z = x;
  k += 3;
  k -= 1;
  k *= 2;
  k /= 4;
  ks[2] += k;
  ks[3] *= 2;
  z .*= x;
  z ./= (1 + square(x));
  z += 1;
  z *= 0.5;
  z -= x;
  z /= 2;
  z[1 : 2] += z[2 : 3];
}
parameters {
  vector[N] b;
  matrix[2, 2] m;
}
transformed parameters {
  vector[N] c = b;
  matrix[2, 2] w = m;
  real t = 1;
  c += z;
  c .*= b;
  c[1] -= b[N];
  c[2 : 3] *= 2;
  w *= m;
  w += 1;
  w[1] /= 2;
  w[ : , 2] += m[ : , 1];
  w[2, 1] *= c[1];
  t += c[2];
  t *= t;
  t /= 1 + square(c[1]);
}
model {
  b ~ normal(0, 1);
  to_vector(m) ~ normal(0, 1);
  target += -0.1 * dot_self(c) - 0.05 * sum(square(w)) + 0.1 * t + 0.001 * sum(ks) * b[1] + 0.01 * k * b[2];
}
