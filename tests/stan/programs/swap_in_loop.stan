// Swaps with the next one and with the one across.
data {
  int N;
}
parameters {
  vector[N] x;
}
transformed parameters {
  vector[N] s = x;
  for (n in 1:(N - 1)) {
    real t = s[n];
    s[n] = s[n + 1] * 0.5;
    s[n + 1] = t;
  }
  for (n in 1:(N %/% 2)) {
    real t = s[n];
    s[n] = s[N - n + 1];
    s[N - n + 1] = t;
  }
}
model {
  x ~ std_normal();
  target += dot_product(s, linspaced_vector(N, 1, 2));
}
