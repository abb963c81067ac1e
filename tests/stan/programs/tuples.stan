// Tuples in data, as parameters, from functions, in arrays, and taken apart.
functions {
  tuple(real, vector) centred(vector x) {
    real m = mean(x);
    return (m, x - m);
  }
  tuple(int, array[] int) extremes(array[] int k) {
    return (max(k), {min(k), max(k)});
  }
}
data {
  tuple(int, vector[3]) d;
  array[2] tuple(real, int) pairs;
}
transformed data {
  vector[3] c;
  real m;
  tuple(real, vector[3]) both = centred(d.2);
  tuple(int, array[2] int) e = extremes({3, 1, 2});
  (m, c) = centred(d.2);
  both.1 += d.1;
}
parameters {
  tuple(real<lower=0>, vector[2]) p;
  real q;
}
transformed parameters {
  tuple(real, tuple(real, vector[2])) nested = (p.1 * 2, (q, p.2 + m));
  array[2] tuple(real, real) at;
  for (i in 1 : 2) {
    at[i].1 = pairs[i].1 * q;
    at[i].2 = p.2[i] + pairs[i].2;
  }
}
model {
  p.1 ~ gamma(2, 2);
  p.2 ~ normal(c[1 : 2], p.1);
  q ~ normal(both.1, e.1 + e.2[1]);
  target += -0.1 * square(at[1].1 - at[2].2) + 0.1 * nested.2.1 * nested.2.2[2] - 0.01 * nested.1;
}
