// An autoregression with a moving average: the surprise of each day feeds the next, in local vectors.
data {
  int<lower=2> len;
  vector[len] series;
}
parameters {
  real level;
  real<lower=-1, upper=1> carry;
  real echo;
  real<lower=0> noise;
}
model {
  vector[len] guess;
  vector[len] surprise;
  for (i in 1 : len) {
    if (i == 1) {
      guess[i] = level;
    } else {
      guess[i] = level + carry * (series[i - 1] - level) + echo * surprise[i - 1];
    }
    surprise[i] = series[i] - guess[i];
  }
  level ~ normal(0, 3);
  echo ~ normal(0, 1);
  noise ~ exponential(1);
  surprise ~ normal(0, noise);
}
