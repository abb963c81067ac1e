// Questions that share a text: answers of a person to one text hang together.
data {
  int<lower=1> I;
  int<lower=1> J;
  int<lower=1> D;
  array[I] int<lower=1, upper=D> text_of;
  array[J, I] int<lower=-1, upper=1> answer;  // -1: not asked
}
parameters {
  vector[J] ability;
  vector<lower=0>[I] slope;
  vector[I] difficulty;
  vector<lower=0>[D] text_sd;
  matrix[J, D] text_effect;
}
model {
  ability ~ std_normal();
  slope ~ lognormal(0, 0.3);
  difficulty ~ normal(0, 1.5);
  text_sd ~ normal(0, 0.5);
  for (d in 1:D) text_effect[:, d] ~ normal(0, text_sd[d]);
  for (j in 1:J)
    for (i in 1:I) {
      if (answer[j, i] < 0) continue;
      answer[j, i] ~ bernoulli_logit(slope[i] * (ability[j] - difficulty[i] + text_effect[j, text_of[i]]));
    }
}
