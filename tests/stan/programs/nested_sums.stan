// Sums at places of nested loops: each round counts once.
data {
  array[6, 7] int place;
}
parameters {
  matrix[6, 7] a;
}
transformed parameters {
  vector[5] by_place = rep_vector(1, 5);
  vector[6] by_row = rep_vector(1, 6);
  matrix[6, 7] above = rep_matrix(0, 6, 7);
  real all = 0;
  for (i in 1:6)
    for (j in 1:7) {
      by_place[place[i, j]] += a[i, j];
      by_row[i] += a[i, j];
      all += a[i, j];
    }
  for (i in 1:6)
    for (j in i:7)
      above[i, j] += a[i, j];
}
model {
  to_vector(a) ~ std_normal();
  target += -0.1 * dot_self(by_place) + 0.1 * sum(above) * all;
}
