// Raters with errors: sums at places of rows.
data {
  int N;
  int K;
  int I;
  int J;
  array[N] int ii;
  array[N] int jj;
  array[N] int y;
}
parameters {
  simplex[K] pi;
  array[J, K] simplex[K] theta;
}
model {
  array[I] vector[K] lp;
  for (i in 1:I)
    lp[i] = log(pi);
  for (n in 1:N)
    for (k in 1:K)
      lp[ii[n], k] = lp[ii[n], k] + log(theta[jj[n], k, y[n]]);
  for (i in 1:I)
    target += log_sum_exp(lp[i]);
  for (j in 1:J)
    for (k in 1:K)
      theta[j, k] ~ dirichlet(rep_vector(1 + (k == 1), K));
}
generated quantities {
  array[I] vector[K] post;
  for (i in 1:I)
    post[i] = log(pi);
  for (n in 1:N)
    for (k in 1:K)
      post[ii[n], k] += log(theta[jj[n], k, y[n]]);
  for (i in 1:I)
    post[i] = softmax(post[i]);
}
