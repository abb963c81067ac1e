// A series that ends where its terms have become small, for each observation: more of them than are computed side
// by side write into lists of their own, in a while loop, at places that it counts. The list is summed up to the
// last term.
functions {
  real log_total(real log_rate, real power, int most) {
    vector[most] terms;
    int k = 2;
    terms[1] = 0;
    terms[2] = log_rate;
    while ((k % 10 != 0 || terms[k] >= terms[k - 1] || terms[k] > -30) && k < most) {
      k += 1;
      terms[k] = (k - 1) * log_rate - power * lgamma(k);
    }
    return log_sum_exp(terms[1 : k]);
  }
}
data {
  int N;
  int M;
  array[N] int y;
}
parameters {
  vector[N] eta;
  real<lower=0.5> power;
}
model {
  eta ~ normal(0.2, 0.4);
  power ~ normal(1, 0.3);
  for (n in 1 : N)
    target += y[n] * eta[n] - power * lgamma(y[n] + 1) - log_total(eta[n], power, M);
}
