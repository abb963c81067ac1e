// One number goes through all rounds of two and of three loops.
parameters {
  real g;
}
transformed parameters {
  real s = g;
  real t = g;
  for (i in 1:9)
    for (j in 1:9)
      s = sin(s) + 0.1;
  for (i in 1:9)
    for (j in 1:2)
      for (k in 1:10)
        t = tanh(t) + 0.01 * k;
}
model {
  g ~ std_normal();
  target += s - square(t);
}
