// Neal's funnel (2003): a density whose scale varies by orders. The variance of y is 9, that of x is exp(9 / 2).
parameters {
  real y;
  vector[9] x;
}
model {
  y ~ normal(0, 3);
  x ~ normal(0, exp(y / 2));
}
