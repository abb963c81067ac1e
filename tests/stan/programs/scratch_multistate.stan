// Scratch paper from outside of all loops: `acc` and `gam` are filled anew for each animal.
data {
  int M;
  int T;
  array[M, T] int y;
  array[M] int f;
}
parameters {
  real<lower=0, upper=1> phi;
  real<lower=0, upper=1> psi;
  real<lower=0, upper=1> p;
}
model {
  array[3] real acc;
  array[T] vector[3] gam;
  array[3, T - 1] vector[3] ps;
  array[3] vector[3] po;
  po[1] = [p, 0, 1 - p]';
  po[2] = [0, p, 1 - p]';
  po[3] = [0, 0, 1]';
  for (t in 1:(T - 1)) {
    ps[1, t] = [phi * (1 - psi), phi * psi, 1 - phi]';
    ps[2, t] = [phi * psi, phi * (1 - psi) / t, 1 - phi * psi - phi * (1 - psi) / t]';
    ps[3, t] = [0, 0, 1]';
  }
  for (i in 1:M) {
    for (k in 1:3) gam[f[i], k] = (k == y[i, f[i]]);
    for (t in (f[i] + 1):T) {
      for (k in 1:3) {
        for (j in 1:3) acc[j] = gam[t - 1, j] * ps[j, t - 1, k] * po[k, y[i, t]];
        gam[t, k] = sum(acc);
      }
    }
    target += log(sum(gam[T]));
  }
}
