// Tuples of an array that are written at places which follow from parameters, whole and by their members.
data {
  int N;
  int M;
  vector[N] x;
}
parameters {
  vector[5] th;
}
transformed parameters {
  array[4] tuple(real, vector[2]) u = {(th[1], th[2 : 3]), (th[2], th[1 : 2]),
                                       (th[3], th[3 : 4]), (th[4], th[4 : 5])};
  array[2, 3] tuple(real, vector[2]) grid = {{(th[4], th[1 : 2]), (th[5], th[2 : 3]),
                                             (1, th[3 : 4])},
                                            {(2, th[4 : 5]), (th[1], th[2 : 3]),
                                             (th[2], th[3 : 4])}};
  {
    int k = th[1] > 0 ? 2 : 4;
    u[k].2[1] = th[4] + 1;
    u[k].2 += th[5];
    u[k].1 = 7 * th[3];
    u[1 + k % 3] = (th[1] * th[2], [th[3], 2]');
    grid[1 + k % 2, k - 1].1 = th[2];
    grid[2, 1 + k % 3] = (th[5], th[3 : 4]);
    grid[1 + (k > 2)] = grid[2, {3, 1, 2}];
  }
}
model {
  array[6] tuple(int, real) w;
  array[6] tuple(real, vector[5]) v;
  int k = th[1] > 0 ? 2 : 3;
  int l = 1;
  th ~ normal(0, 1);
  for (i in 1 : 6) {
    w[i] = (i, th[1] * i);
    v[i] = (i, th * i);
  }
  w[k].2 = th[2];
  w[k + 1] = (7, th[3]);
  w[k + 2].1 = k;
  for (i in 1 : 6) 
    target += 0.1 * w[i].1 * w[i].2;
  for (i in 1 : N) {
    if (x[i] * th[1] > 0) 
      l = 1 + l % 6;
    v[l].2[1 + i % 5] += x[i];
    v[l].1 *= 0.5;
  }
  for (i in 1 : 6) 
    target += 0.1 * v[i].1 * sum(v[i].2);
}
generated quantities {
  array[3] tuple(int, real) g = {(1, th[1]), (2, th[2]), (3, th[3])};
  g[th[4] > 0 ? 1 : 3].1 = 77;
  g[th[5] > 0 ? 3 : 2] = (5, 2.5);
}
