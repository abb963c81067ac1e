data {
  int row_count;
  int column_count;
  int answers;
  matrix[row_count, column_count] x;
  int y[row_count];
}
parameters {
  vector[column_count] b;
  ordered[answers - 1] cut;
}
model {
  b ~ normal(0, 2);
  cut ~ normal(0, 3);
  y ~ ordered_probit(x * b, cut);
}
