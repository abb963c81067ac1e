// Several places at once on both sides, with repeats, ranges and arrays of arrays.
data {
  int N;
  array[N] int<lower=1, upper=4> g;
  array[2] int idx;
  vector[N] y;
}
transformed data {
  array[3, 4] int grid;
  array[2, 2] int part;
  vector[N] sorted = y[sort_indices_asc(y)];
  for (i in 1 : 3) for (j in 1 : 4) grid[i, j] = 10 * i + j;
  part = grid[2 : 3, idx];
  grid[1, idx] = {7, 8};
  grid[{3, 2}] = grid[2 : 3];
}
parameters {
  vector[4] a;
  matrix[3, 4] m;
  array[3] vector[2] v;
  real<lower=0> s;
}
transformed parameters {
  matrix[3, 4] w = m;
  array[3] vector[2] u = v;
  vector[6] x;
  w[2 : 3, idx] = m[1 : 2, {4, 4}];
  w[1] = m[3];
  w[ : , 2] = w[ : , 1] .* m[ : , 2];
  w[3, 1 : 2] *= 2;
  u[{1, 3}] = v[{3, 1}];
  u[2, 1] += a[1];
  u[2][2] -= a[2];
  x[1 : 2] = a[idx];
  x[3 : ] = a;
  x[ : 2] = x[{2, 1}];
}
model {
  a ~ normal(0, 1);
  to_vector(m) ~ normal(0, 1);
  for (i in 1 : 3) v[i] ~ normal(a[idx], 1);
  y ~ normal(a[g] + w[1, g]', s);
  s ~ exponential(1);
  target += sum(w) * 0.1 + sum(x) * 0.05 + grid[1, idx[1]] * 0.01 * a[1] + part[2, 2] * 0.001 * a[2] + grid[3, 1] * 0.001 * a[3];
  target += -0.1 * dot_self(u[3] - u[1]) - 0.05 * squared_distance(u[2], sorted[1 : 2]) + 0.1 * w[3][2] * w[1, 2 : 4] * a[1 : 3];
}
