// Returns under conditions on parameters, also from a nested block.
functions {
  real soft(real x) {
    if (x < -0.3)
      return -2 * x;
    else if (x < 0.2)
      return square(x) + 1;
    return log1p_exp(x);
  }
  real nested(real x) {
    {
      if (x > 0)
        return x;
    }
    return -x * 3;
  }
}
data {
  int N;
}
parameters {
  vector[N] x;
}
model {
  for (n in 1:N)
    target += -soft(x[n]) - nested(x[n]);
  x ~ std_normal();
}
