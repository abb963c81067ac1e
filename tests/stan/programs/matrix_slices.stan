// Parts of matrices, transposes, joins, products and divisions.
data {
  int R;
  int C;
  matrix[R, C] X;
  vector[R] y;
}
transformed data {
  matrix[C, C] XtX = crossprod(X);
  matrix[C, R] Xt = X';
  row_vector[C] top = X[1];
  vector[R] left = X[ : , 1];
  matrix[R, C + 1] with_one = append_col(rep_vector(1, R), X);
  matrix[2, C] block_of = block(X, 2, 1, 2, C);
  vector[R * C] long = to_vector(X);
  matrix[C, R] again = to_matrix(long, C, R, 0);
}
parameters {
  matrix[C, 2] B;
  vector[C + 1] b;
  real<lower=0> s;
}
model {
  matrix[R, 2] fit = X * B;
  row_vector[C] mean_row = ones_row_vector(R) * X / R;
  to_vector(B) ~ normal(0, 1);
  b ~ normal(0, 2);
  s ~ normal(0, 1);
  y ~ normal(with_one * b, s);
  target += -0.1 * sum(fit[2 : 3]') - 0.2 * (top * B[ : , 1]) + 0.1 * quad_form(XtX, B[ : , 2]) * -0.1;
  target += 0.01 * sum(Xt * fit) - 0.01 * sum(B' * Xt) + 0.1 * (mean_row * (B[ : , 1] - B[ : , 2]));
  target += 0.1 * sum((XtX + s * identity_matrix(C)) \ b[2 : ]) + 0.1 * (b[2 : ]' / (XtX + diag_matrix(rep_vector(s, C)))) * B[ : , 2];
  target += -0.01 * trace(B' * B) + 0.02 * sum(again[ , 2]) * b[1] + 0.01 * sum(block_of * B) + 0.01 * dot_product(left, fit[ : , 2]);
  target += -0.1 * log_determinant(XtX + s * identity_matrix(C)) + 0.01 * sum(columns_dot_self(B)) + 0.01 * sum(rows_dot_product(B, B));
  target += -0.1 * sum(diag_pre_multiply(b[1 : C], XtX)[1]) + 0.01 * mdivide_left_spd(XtX, B)[1, 2] + 0.01 * inverse(XtX)[1, 1] * s;
}
