// Readers and sentences, both with effects of their own: one centred, one from standard normals.
data {
  int<lower=1> readings;
  int<lower=1> readers;
  int<lower=1> sentences;
  array[readings] int<lower=1, upper=readers> who;
  array[readings] int<lower=1, upper=sentences> what;
  vector<lower=0>[readings] seconds;
  vector<lower=-1, upper=1>[readings] contrast;
}
parameters {
  real level;
  real effect;
  real<lower=0> noise;
  vector<lower=0>[2] spread;
  vector[readers] by_reader;
  vector[sentences] raw_sentence;
}
transformed parameters {
  vector[sentences] by_sentence = spread[2] * raw_sentence;
}
model {
  vector[readings] log_expected = level + effect * contrast;
  level ~ normal(0, 2);
  effect ~ normal(0, 1);
  noise ~ exponential(1);
  spread ~ normal(0, 1);
  by_reader ~ normal(0, spread[1]);
  raw_sentence ~ std_normal();
  for (r in 1 : readings) {
    log_expected[r] += by_reader[who[r]] + by_sentence[what[r]];
  }
  seconds ~ lognormal(log_expected, noise);
}
