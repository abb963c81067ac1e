// A position and its speed, day by day, as columns of a matrix.
data {
  int<lower=2> T;
  vector[T] y;
  array[T] int<lower=0, upper=1> is_there;
}
parameters {
  matrix[2, T] step;
  real<lower=0, upper=1> keeps;
  vector<lower=0>[2] size;
  real<lower=0> noise;
}
transformed parameters {
  matrix[2, T] state;
  {
    matrix[2, 2] move = [[1, 1], [0, keeps]];
    state[:, 1] = size .* step[:, 1];
    for (t in 2:T) state[:, t] = move * state[:, t - 1] + size .* step[:, t];
  }
}
model {
  to_vector(step) ~ std_normal();
  keeps ~ beta(5, 2);
  size ~ normal(0, 0.5);
  noise ~ normal(0, 1);
  for (t in 1:T)
    if (is_there[t]) y[t] ~ normal(state[1, t], noise);
}
generated quantities {
  real last_speed = state[2, T];
  vector[T] path = state[1]';
}
