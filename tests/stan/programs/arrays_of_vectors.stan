// Arrays with two axes of vectors, of matrices and of row vectors, read and written in parts.
data {
  int A;
  int B;
  array[A, B] vector[3] y;
  array[A] matrix[2, 2] m;
}
parameters {
  array[A, B] vector[3] mu;
  array[B] row_vector[2] r;
  array[2] matrix[2, 2] w;
  array[2, 2] real<lower=0> s;
}
transformed parameters {
  array[A, B, 3] real flat_mu;
  array[A] vector[3] sums = rep_array(zeros_vector(3), A);
  array[2, 2] real log_s = log(s);
  for (a in 1 : A) {
    for (b in 1 : B) {
      for (i in 1 : 3) flat_mu[a, b, i] = mu[a, b][i];
      sums[a] += mu[a, b];
      sums[a, 2] -= 0.5;
    }
  }
}
model {
  for (a in 1 : A) {
    for (b in 1 : B) {
      mu[a, b] ~ normal(0, s[1, 1]);
      y[a, b] ~ normal(mu[a, b] + r[b, 1], s[a, 2]);
    }
    target += -0.1 * sum(m[a] * w[2] .* w[1]);
  }
  r[1] ~ normal(0, 1);
  r[2] ~ student_t(5, 1, 2);
  for (i in 1 : 2) to_vector(w[i]) ~ normal(0, s[2, i]);
  to_array_1d(s) ~ gamma(2, 2);
  target += -0.01 * dot_self(sums[1]) + 0.1 * log_s[2, 1] + 0.01 * sum(to_array_1d(flat_mu[1, : , 2]));
}
