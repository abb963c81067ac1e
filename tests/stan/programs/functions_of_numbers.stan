// Functions of numbers, applied to numbers, vectors and arrays of parameters.
data {
  int N;
  vector[N] x;
  array[N] int k;
}
parameters {
  vector<lower=0.2, upper=0.8>[N] p;
  vector<lower=0.5>[N] q;
  real z;
}
model {
  array[N] real as_array = to_array_1d(q);
  p ~ beta(2, 2);
  q ~ gamma(2, 1);
  z ~ normal(0, 1);
  target += 0.01 * sum(exp(p) + log(q) + sqrt(q) + cbrt(q) + square(p) + inv(q) + inv_sqrt(q) + inv_square(q));
  target += 0.01 * sum(sin(q) + cos(q) + tan(p) + asin(p) + acos(p) + atan(q) + sinh(p) + cosh(p) + tanh(q));
  target += 0.01 * sum(asinh(q) + acosh(1 + q) + atanh(p) + logit(p) + inv_logit(q) + inv_cloglog(p));
  target += 0.01 * sum(erf(p) + erfc(q) + Phi(p) + Phi_approx(p) + inv_Phi(p) + tgamma(q) + lgamma(q));
  target += 0.01 * sum(digamma(q) + trigamma(q) + log1p(q) + log1m(p) + expm1(p) + exp2(p) + log2(q) + log10(q));
  target += 0.01 * sum(log1p_exp(q) + log1m_exp(-q) + log_inv_logit(q) + log1m_inv_logit(p) + abs(p - 0.5));
  target += 0.01 * sum(pow(p, 2) + q .^ 1.5 + 2 ^ p + fmin(p, 0.5) + fmax(q, p) + hypot(p, q) + atan2(p, q));
  target += 0.01 * sum(lbeta(p, q) + lchoose(q + 2, p) + log_diff_exp(q + 1, p) + lmultiply(p, q) + fma(p, q, x));
  target += 0.01 * (log_sum_exp(z, 1) + log_sum_exp(q) + fdim(z, -1) + fmod(q[1], 0.3) + gamma_p(q[1], p[1]));
  target += 0.01 * (gamma_q(q[2], 1.2) + inc_beta(q[1], q[2], p[1]) + lmgamma(2, q[1] + 1) + log_mix(p[1], z, 0.3));
  target += 0.01 * sum(sin(as_array)) + 0.01 * sum(log(to_row_vector(q))) + 0.01 * prod(p) + 0.01 * norm1(x - q) + 0.01 * norm2(q);
  target += 0.01 * (beta(p[1], q[1]) + log_inv_logit_diff(q[1] + 1, z - 9) + log_falling_factorial(q[1] + 3, 2) + log_rising_factorial(q[1], 2));
  target += 0.01 * (max(p) + min(q) + floor(z) + ceil(z) + round(z) + trunc(z) + step(z) + choose(k[1], k[2]) * z + distance(p, q));
}
