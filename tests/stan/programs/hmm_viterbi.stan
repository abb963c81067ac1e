// Two moods with levels in order: the sum over all paths, then the best path with its trace back.
data {
  int<lower=2> days;
  int<lower=2> moods;
  vector[days] seen;
}
parameters {
  array[moods] simplex[moods] turn;
  positive_ordered[moods] level;
  real<lower=0> noise;
}
transformed parameters {
  matrix[days, moods] fits;
  for (m in 1 : moods) {
    for (d in 1 : days) fits[d, m] = normal_lpdf(seen[d] | level[m], noise);
  }
}
model {
  array[moods] real ways = to_array_1d(fits[1] - log(moods));
  for (m in 1 : moods) turn[m] ~ dirichlet(rep_vector(1.5, moods));
  level ~ normal(4, 3);
  noise ~ exponential(0.5);
  for (d in 2 : days) {
    array[moods] real ahead;
    for (m in 1 : moods) {
      array[moods] real from_each;
      for (before in 1 : moods) from_each[before] = ways[before] + log(turn[before, m]);
      ahead[m] = fits[d, m] + log_sum_exp(from_each);
    }
    ways = ahead;
  }
  target += log_sum_exp(ways);
}
generated quantities {
  array[days] int<lower=1, upper=moods> path;
  real best_score = negative_infinity();
  {
    matrix[days, moods] score;
    array[days, moods] int came_from = rep_array(1, days, moods);
    score[1] = fits[1];
    for (d in 2 : days) {
      for (m in 1 : moods) {
        score[d, m] = score[d - 1, 1] + log(turn[1, m]);
        for (before in 2 : moods) {
          real other = score[d - 1, before] + log(turn[before, m]);
          if (other > score[d, m]) {
            score[d, m] = other;
            came_from[d, m] = before;
          }
        }
        score[d, m] += fits[d, m];
      }
    }
    for (m in 1 : moods) {
      if (score[days, m] > best_score) {
        best_score = score[days, m];
        path[days] = m;
      }
    }
    {
      int d = days;
      while (d > 1) {
        path[d - 1] = came_from[d, path[d]];
        d -= 1;
      }
    }
  }
}
