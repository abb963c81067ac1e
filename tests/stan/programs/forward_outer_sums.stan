// Weights of all paths, with the list of sums declared outside of the loops and filled anew for each state.
data {
  int days;
  int moods;
  int words;
  array[days] int said;
}
parameters {
  array[moods] simplex[moods] turn;
  array[moods] simplex[words] speech;
}
model {
  matrix[days, moods] weight;
  vector[moods] ways;
  for (m in 1:moods)
    weight[1, m] = log(speech[m, said[1]]);
  for (d in 2:days)
    for (m in 1:moods) {
      for (before in 1:moods)
        ways[before] = log(turn[before, m]) + weight[d - 1, before];
      weight[d, m] = log(speech[m, said[d]]) + log_sum_exp(ways);
    }
  target += log_sum_exp(weight[days]);
}
