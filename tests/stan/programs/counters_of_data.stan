// Integer counters of data that meet parameters.
data {
  int N;
  array[N] int g;
}
parameters {
  vector[N] x;
}
transformed parameters {
  vector[N] run;
  {
    int streak = 0;
    for (n in 1:N) {
      if (g[n] == 1)
        streak += 1;
      else
        streak = 0;
      run[n] = x[n] * streak;
    }
    int total = 0;
    for (n in 1:N) {
      total += g[n];
      run[n] += total * 0.1;
      if (total % 2 == 0)
        run[n] *= 0.5;
    }
  }
}
model {
  x ~ std_normal();
  target += -dot_self(run);
}
