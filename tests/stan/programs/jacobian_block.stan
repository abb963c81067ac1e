// Changes of variables by hand: jacobian += in transformed parameters, and bounds checked there.
functions {
  real squeeze_jacobian(real u, real low, real high) {
    jacobian += log(high - low) + log_inv_logit(u) + log1m_inv_logit(u);
    return low + (high - low) * inv_logit(u);
  }
}
data {
  real y;
}
parameters {
  real u;
  vector[2] v;
}
transformed parameters {
  real<lower=2, upper=5> x = squeeze_jacobian(u, 2, 5);
  vector<lower=0>[2] w = exp(v);
  jacobian += sum(v);
}
model {
  x ~ normal(3, 1);
  w ~ gamma(2, 1);
  y ~ normal(x, w[1] + w[2]);
}
