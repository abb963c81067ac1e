// Counts and bins that follow from parameters.
data {
  int N;
}
parameters {
  vector[N] x;
}
model {
  int count = 0;
  int last = 0;
  array[4] int tally = {0, 0, 0, 0};
  for (n in 1:N) {
    if (x[n] > 0) {
      count += 1;
      last = n;
    } else
      count -= 1;
  }
  for (n in 1:N) {
    int bin = x[n] < -0.5 ? 1 : x[n] < 0 ? 2 : x[n] < 0.5 ? 3 : 4;
    tally[bin] += 1;
  }
  target += 0.3 * count + 0.01 * last * x[1] + tally[2] * x[2]
            - 0.1 * tally[4] * (count / 2) + (count % 3) * x[3];
  x ~ std_normal();
}
