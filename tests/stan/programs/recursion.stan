// Functions of the program: recursion on data, overloading, several returns, and arguments of every kind.
functions {
  int fibonacci(int n) {
    if (n <= 2) return 1;
    return fibonacci(n - 1) + fibonacci(n - 2);
  }
  real power_sum(real x, int n);
  real power_sum(real x, int n) {
    return n == 0 ? 1 : 1 + x * power_sum(x, n - 1);
  }
  real norm_of(vector v) {
    return sqrt(dot_self(v));
  }
  real norm_of(array[] real v) {
    real sum = 0;
    for (e in v) sum += e ^ 2;
    return sqrt(sum);
  }
  vector scaled(vector v, data real by) {
    vector[rows(v)] result = v;
    result *= by;
    return result;
  }
  void nothing_to_do(real x) {
    if (x > 1e300) reject("too large: ", x);
  }
}
data {
  int<lower=1> n;
  vector[3] x;
}
transformed data {
  int f = fibonacci(n);
  array[n] int all_f;
  for (i in 1 : n) all_f[i] = fibonacci(i);
}
parameters {
  real<lower=-1, upper=1> r;
  vector[3] v;
}
model {
  nothing_to_do(r);
  target += power_sum(r, n);
  v ~ normal(scaled(x, 0.5), f);
  target += -0.1 * norm_of(v) - 0.2 * norm_of({r, v[1], 2}) - 0.001 * sum(all_f) * r;
}
