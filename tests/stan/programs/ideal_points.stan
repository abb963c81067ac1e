// Votes with gaps that are skipped.
data {
  int J;
  int M;
  array[J, M] int vote;
}
parameters {
  vector[J] x;
  matrix[M, 2] b;
}
model {
  x ~ std_normal();
  to_vector(b) ~ normal(0, 2);
  for (j in 1:J)
    for (m in 1:M) {
      if (vote[j, m] == -1)
        continue;
      vote[j, m] ~ bernoulli_logit(b[m, 1] + b[m, 2] * x[j]);
    }
}
