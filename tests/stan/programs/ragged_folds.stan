// Largest, smallest, log_sum_exp, products and means of parts of different sizes, some of them empty.
data {
  int<lower=1> N;
  int<lower=1> G;
  array[G] int first;
  array[G] int last;
  array[N] int k;
  vector[N] x;
}
parameters {
  vector[N] eta;
  real<lower=0> slope;
}
transformed parameters {
  vector[N] risk;
  for (n in 1 : N) {
    risk[n] = log_sum_exp(slope * eta[n : N] + x[n : N]) - max(head(eta, n)) * min(eta[n : N]);
  }
}
model {
  eta ~ normal(0, 1);
  slope ~ normal(0, 1);
  for (n in 1 : N) {
    if (x[n] > 0) target += eta[n] - log_sum_exp(eta[n : N]);
    target += prod(tanh(eta[1 : n])) + mean(eta[n : N] .* x[n : N]);
  }
  for (g in 1 : G) {
    real all = log_sum_exp(eta[1 : 2]);
    if (last[g] >= first[g]) all += max(reverse(eta[first[g] : last[g]])) * mean(eta[first[g] : last[g]]);
    target += log_sum_exp(all, log_sum_exp(eta[first[g] : last[g]] - slope)) / (g + 1.0);
    target += prod(eta[first[g] : last[g]]);
  }
  for (n in 1 : N) {
    // Quotients of integers.
    target += eta[n] * (max(k[1 : n]) / 2) - slope * (sum(k[n : N]) / 3) + eta[n] * (k[n] / min(k[n : N]))
              + mean(k[1 : n]) * eta[n];
  }
  risk ~ normal(1, 3);
}
