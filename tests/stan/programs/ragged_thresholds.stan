// Items with different numbers of steps, cut out of one list; the sizes differ from row to row.
functions {
  real answer(int steps_taken, real skill, vector hurdles) {
    vector[num_elements(hurdles) + 1] gain;
    gain[1] = 0;
    for (h in 1:num_elements(hurdles))
      gain[h + 1] = gain[h] + skill - hurdles[h];
    return gain[steps_taken + 1] - log_sum_exp(gain);
  }
}
data {
  int people;
  int rows_seen;
  array[rows_seen] int who;
  array[rows_seen] int item;
  array[rows_seen] int got;
  array[3] int steps;
  array[3] int start;
}
parameters {
  vector[6] hurdle;
  vector[people] skill;
}
model {
  hurdle ~ normal(0, 2);
  skill ~ std_normal();
  for (n in 1:rows_seen)
    target += answer(got[n], skill[who[n]],
                     segment(hurdle, start[item[n]], steps[item[n]]));
}
