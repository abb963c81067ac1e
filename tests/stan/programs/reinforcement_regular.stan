// Learning: the place that changes follows from data.
data {
  int N;
  int T;
  array[N, T] int choice;
  array[N, T] real reward;
}
parameters {
  vector<lower=0, upper=1>[N] lr;
  vector<lower=0>[N] temp;
}
model {
  lr ~ beta(2, 2);
  temp ~ lognormal(0, .5);
  for (i in 1:N) {
    vector[4] ev = rep_vector(0.0, 4);
    for (t in 1:T) {
      target += categorical_logit_lpmf(choice[i, t] | temp[i] * ev);
      ev[choice[i,
                t]] = ev[choice[i, t]]
                      + lr[i] * (reward[i, t] - ev[choice[i, t]]);
      for (k in 1:4)
        if (k != choice[i, t])
          ev[k] *= 0.9;
    }
  }
}
