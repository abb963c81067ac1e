// A Kalman filter of two states.
data {
  int T;
  vector[T] y;
}
parameters {
  real<lower=0> q;
  real<lower=0> s;
  real<lower=-1, upper=1> phi;
}
model {
  vector[2] m = rep_vector(0, 2);
  matrix[2, 2] P = diag_matrix(rep_vector(1, 2));
  matrix[2, 2] A = [[phi, 1], [0, 1]];
  row_vector[2] H = [1, 0];
  for (t in 1:T) {
    vector[2] mp = A * m;
    matrix[2, 2] Pp = quad_form(P, A') + diag_matrix([q, 0.1]');
    real S = H * Pp * H' + square(s);
    vector[2] K = Pp * H' / S;
    real v = y[t] - H * mp;
    target += normal_lpdf(v | 0, sqrt(S));
    m = mp + K * v;
    P = Pp - K * H * Pp;
  }
  q ~ exponential(1);
  s ~ exponential(1);
}
