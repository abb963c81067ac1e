// Branches that have no gradient where the other one is taken.
data {
  int N;
}
parameters {
  vector[N] x;
}
model {
  for (n in 1:N) {
    if (x[n] > 0)
      target += log(x[n]) * 0.1;
    else
      target += sqrt(-x[n]);
    target += x[n] > 0 ? sqrt(x[n]) : -log(-x[n]);
  }
  x ~ std_normal();
}
