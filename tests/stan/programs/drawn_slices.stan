// Parts whose size follows from parameters.
functions {
  real log_series(real log_mu, real nu) {
    real total = log1p_exp(nu * log_mu);
    int k = 2;
    int converged = 0;
    while (converged == 0) {
      vector[9] terms;
      int i = 1;
      terms[1] = total;
      while (i <= 8) {
        terms[i + 1] = nu * (k * log_mu - lgamma(k + 1));
        k += 1;
        if (terms[i + 1] <= -9.0) {
          converged = 1;
          break;
        }
        i += 1;
      }
      total = log_sum_exp(terms[1:min(i + 1, 9)]);
    }
    return total;
  }
}
data {
  int N;
  array[N] int counts;
  vector[N] x;
}
parameters {
  real a;
  real b;
  real<lower=0.5> nu;
  vector[12] w;
}
transformed parameters {
  vector[6] parts;
  {
    int k = 1;
    real at = 0;
    while (k < 11 && at < 1.5) {
      at += exp(0.3 * w[k]);
      k += 1;
    }
    parts[1] = sum(w[1:k]);
    parts[2] = dot_product(w[k:12], exp(w[k:12]));
    parts[3] = max(w[k:]) - min(w[:k]);
    parts[4] = mean(w[1:k] * 2);
    parts[5] = normal_lpdf(w[1:k] | a, 1.5);
    parts[6] = prod(w[k:(k + 1)]) + dot_self(w[2:k]) + log_sum_exp(w[k:(k - 1 + 1)]);
  }
}
model {
  for (n in 1:N) {
    real log_mu = a + b * x[n];
    target += nu * (counts[n] * log_mu - lgamma(counts[n] + 1)) - log_series(log_mu, nu);
  }
  w ~ normal(0, 1);
  nu ~ exponential(1);
  target += -0.1 * sum(square(parts));
}
