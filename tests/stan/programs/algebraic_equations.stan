// Systems of equations whose solutions follow parameters.
functions {
  vector curves(vector y, vector theta, array[] real x_r, array[] int x_i) {
    vector[2] z;
    z[1] = y[1] + exp(y[2]) - theta[1];
    z[2] = y[1] * y[2] - theta[2] * x_r[x_i[1]];
    return z;
  }
  vector dose(vector y, real rate, real clearance, data real length) {
    return [rate * length - clearance * y[1] / (1 + y[1]) - 0.1 * y[1]]';
  }
  vector three(vector y, vector p) {
    return [y[1] + 0.2 * sin(y[2]) - p[1], y[2] - 0.3 * y[1] * y[3] - p[2], y[3] + 0.1 * square(y[1]) - p[1] * p[2]]';
  }
}
data {
  int N;
  vector[N] length;
}
parameters {
  real<lower=0.5, upper=2> a;
  real<lower=0.3, upper=1> b;
  vector[2] p;
}
transformed parameters {
  vector[2] first = algebra_solver(curves, [1.0, 0.5]', [a + 2, b]', {0.4, 1.0}, {2});
  vector[2] same = solve_powell(curves, [1.0, 0.5]', [a + 2, b]', {0.4, 1.0}, {1});
  vector[3] all_three = solve_newton_tol(three, rep_vector(0.1, 3), 1e-3, 1e-8, 100, 0.5 * tanh(p));
  vector[N] level;
  for (n in 1 : N) {
    level[n] = solve_newton(dose, [1.0]', a, b, length[n])[1];
  }
}
model {
  target += -0.5 * (square(first[1]) + square(same[2] - 1)) + sum(all_three) - 0.5 * dot_self(p);
  level ~ normal(b, 2);
}
