// Swaps under conditions on parameters in ragged loops.
data {
  int N;
}
parameters {
  vector[N] x;
}
transformed parameters {
  vector[N] s = x;
  for (i in 1:(N - 1))
    for (j in 1:(N - i))
      if (s[j] > s[j + 1]) {
        real t = s[j];
        s[j] = s[j + 1];
        s[j + 1] = t;
      }
}
model {
  x ~ std_normal();
  target += dot_product(s, linspaced_vector(N, -1, 1));
}
