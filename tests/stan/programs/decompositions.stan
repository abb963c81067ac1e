// Factors as tuples, pseudo-inverses and their products, which have no signs of their own.
data {
  matrix[4, 2] X;
  matrix[3, 3] S;
}
parameters {
  vector[2] b;
  real<lower=0> scale;
}
transformed parameters {
  matrix[4, 2] A = diag_post_multiply(X, exp(0.3 * b));
  tuple(matrix[4, 2], vector[2], matrix[2, 2]) factors = svd(A);
  tuple(matrix[4, 2], matrix[2, 2]) thin = qr_thin(A);
  matrix[4, 4] projection = factors.1 * factors.1';
  matrix[2, 4] inverse_of = generalized_inverse(A);
}
model {
  tuple(matrix[3, 3], vector[3]) eigen = eigendecompose_sym(S * scale + diag_matrix([b[1], b[2], 0.1]'));
  tuple(matrix[3, 3], matrix[3, 3]) square_one = qr(add_diag(S, b[1]));
  target += sum(square(eigen.1) * eigen.2) + log_sum_exp(eigen.2);
  target += trace_dot(square_one.1 * square_one.2, S) + square_one.2[1, 3];
  target += sum(factors.2) + sum(projection .* projection') + sum(thin.2) + sum(thin.1[, 1]);
  target += -sum(square(inverse_of)) + sum(abs(svd_V(A) * diag_matrix(factors.2) * svd_V(A)'));
  b ~ std_normal();
  scale ~ lognormal(0, 0.3);
}
