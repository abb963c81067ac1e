// map_rect over no shards is an empty vector: in transformed data, in the model, where sizes follow from data,
// and in generated quantities.
functions {
  vector own(vector phi, vector theta, data array[] real x, data array[] int i) {
    return phi[1:2] * theta[1] + x[1] * i[1];
  }
  real total(vector phi, int n, data array[,] real x, data array[,] int i) {
    array[n] vector[1] theta = rep_array([0.5]', n);
    return sum(map_rect(own, phi, theta, x, i));
  }
}
data {
  int N;
}
transformed data {
  array[N] vector[1] fixed = rep_array([2.0]', N);
  array[N, 1] real x = rep_array(0.5, N, 1);
  array[N, 1] int i = rep_array(3, N, 1);
  vector[2 * N] known = map_rect(own, [1.0, 2.0, 3.0]', fixed, x, i);
  int known_size = size(known);
  array[N + 1, 1] real more_x = rep_array(1.5, N + 1, 1);
  array[N + 1, 1] int more_i = rep_array(2, N + 1, 1);
}
parameters {
  vector[3] phi;
  array[N] vector[1] theta;
}
model {
  vector[2 * N] joined = map_rect(own, phi, theta, x, i);
  phi ~ std_normal();
  target += sum(joined) + sum(known) + known_size + total(phi, N, x, i) + total(phi, N + 1, more_x, more_i);
}
generated quantities {
  vector[2 * N] drawn = map_rect(own, phi, theta, x, i);
  real s = sum(map_rect(own, phi, theta, x, i)) + total(phi, N, x, i) + known_size;
  real one = total(phi, N + 1, more_x, more_i);
}
