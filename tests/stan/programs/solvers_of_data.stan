// Solvers in transformed data, whose functions call others and branch.
functions {
  vector slopes(real t, vector y, real k) {
    vector[2] dy;
    dy[1] = y[2];
    if (y[1] > 0.5) {
      dy[2] = -k * sin(y[1]) - 0.1 * y[2];
    } else {
      dy[2] = -k * sin(y[1]) - 0.1 * y[2] + 0 * exp(y[2]);
    }
    return dy;
  }
  real weight(real x, real xc, vector v) {
    real s = 0;
    for (i in 1 : rows(v)) {
      s += exp(-square(x - v[i]));
    }
    return s;
  }
  vector balance(vector y, real a) {
    return [exp(y[1]) + y[2] - a, square(y[2]) + tanh(y[1]) - 2]';
  }
}
data {
  real<lower=0> k;
  vector[3] v;
}
transformed data {
  array[3] vector[2] path = ode_rk45(slopes, [1.0, 0.0]', 0.0, {0.5, 1.0, 2.0}, k);
  real area = integrate_1d_double_exponential(weight, 0, positive_infinity(), v);
  vector[2] root = solve_newton(balance, [0.5, 1.0]', 3);
}
parameters {
  real a;
}
model {
  a ~ normal(path[3, 1] + area, 1 + square(root[1]) + square(root[2]));
}
generated quantities {
  real told = path[2, 2] + area + root[2];
}
