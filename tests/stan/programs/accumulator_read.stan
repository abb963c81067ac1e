// Sums that are read in the same round, and a short history that moves on.
data {
  int N;
  vector[N] y;
}
parameters {
  vector[N] x;
}
model {
  real s = 0;
  real q = 1;
  vector[3] hist = rep_vector(0, 3);
  for (n in 1:N) {
    s += x[n];
    q += s * 0.1;
    hist[1] = hist[2];
    hist[2] = hist[3];
    hist[3] = s;
    y[n] ~ normal(s + hist[1], 1 + square(q));
  }
  x ~ std_normal();
}
