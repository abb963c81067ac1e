// Loops on parameters whose rounds add Jacobians by calls alone.
functions {
  real stretched_jacobian(real u) {
    jacobian += u;
    return exp(u);
  }
}
parameters {
  vector[5] th;
}
transformed parameters {
  vector[5] y = rep_vector(0, 5);
  vector[5] z = rep_vector(0, 5);
  vector[5] w = rep_vector(0, 5);
  {
    int i = 1;
    while (i <= 5 && th[1] < 10) {
      y[i] = stretched_jacobian(th[i]);
      i += 1;
    }
  }
  {
    int i = 1;
    while (i <= 4 && th[1] < 10) {
      z[i] = stretched_jacobian(th[i]);
      i += 1;
    }
  }
  for (i in 1 : (th[2] > 0 ? 2 : 3)) {
    w[i] = stretched_jacobian(th[i]);
  }
  for (g in 1 : 6) {
    int i = 1;
    while (i < 3 && th[i] * g < 1) {
      w[4] += stretched_jacobian(th[i] + g);
      i += 1;
    }
  }
}
model {
  th ~ normal(0, 1);
  target += -0.1 * sum(y) - 0.2 * sum(z) - 0.01 * sum(w);
}
