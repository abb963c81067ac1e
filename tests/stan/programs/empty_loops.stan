// Nothing to loop over, in every way.
data {
  int N;
  int Z;
  array[Z] int none;
  vector[Z] v;
  matrix[Z, N] m;
  array[Z, 3] real q;
}
parameters {
  vector[N] x;
  vector[Z] nothing;
}
transformed parameters {
  vector[Z] w = nothing * 2;
  matrix[N, Z] mz;
  real s = 0;
  for (z in 1:Z)
    s += nothing[z];
  for (n in 2:1)
    s += x[n];
  for (i in none)
    s += i;
  for (n in 1:N)
    for (z in 1:Z)
      mz[n, z] = x[n];
  for (n in 1:N) {
    vector[Z] loc;
    for (z in 1:Z)
      loc[z] = x[n];
    s += sum(loc);
  }
}
model {
  x ~ std_normal();
  v ~ normal(w, 1);
  target += sum(m * x) + s + sum(to_array_1d(q));
  nothing ~ std_normal();
}
