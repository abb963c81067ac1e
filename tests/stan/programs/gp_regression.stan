// A smooth curve with noise: the kernel's factor in the model block.
data {
  int<lower=1> points;
  array[points] real where;
  vector[points] value;
}
transformed data {
  vector[points] middle = rep_vector(mean(value), points);
}
parameters {
  real<lower=0> reach;
  real<lower=0> swing;
  real<lower=0> noise;
}
model {
  matrix[points, points] kernel = gp_exp_quad_cov(where, swing, reach);
  matrix[points, points] factor;
  for (i in 1 : points) kernel[i, i] += noise ^ 2;
  factor = cholesky_decompose(kernel);
  reach ~ inv_gamma(5, 5);
  swing ~ student_t(4, 0, 2);
  noise ~ exponential(2);
  value ~ multi_normal_cholesky(middle, factor);
}
