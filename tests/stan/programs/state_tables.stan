// Tables of transitions and sightings of each animal and year, number by number; the forward algorithm on them.
functions {
  int first_capture(array[] int y_i) {
    for (k in 1:size(y_i))
      if (y_i[k] != 3)
        return k;
    return 0;
  }
}
data {
  int nind;
  int n_occasions;
  array[nind, n_occasions] int<lower=1, upper=3> y;
}
transformed data {
  int n_occ_minus_1 = n_occasions - 1;
  array[nind] int<lower=0, upper=n_occasions> first;
  for (i in 1:nind)
    first[i] = first_capture(y[i]);
}
parameters {
  vector<lower=0, upper=1>[n_occ_minus_1] phi_A;
  real<lower=0, upper=1> mean_phi_B;
  real<lower=0, upper=1> mean_psi_AB;
  real<lower=0, upper=1> mean_psi_BA;
  real<lower=0, upper=1> mean_p_A;
  real<lower=0, upper=1> mean_p_B;
}
transformed parameters {
  vector<lower=0, upper=1>[n_occ_minus_1] phi_B;
  vector<lower=0, upper=1>[n_occ_minus_1] psi_AB;
  vector<lower=0, upper=1>[n_occ_minus_1] psi_BA;
  vector<lower=0, upper=1>[n_occ_minus_1] p_A;
  vector<lower=0, upper=1>[n_occ_minus_1] p_B;
  array[3, nind, n_occ_minus_1] simplex[3] ps;
  array[3, nind, n_occ_minus_1] simplex[3] po;
  for (t in 1:n_occ_minus_1) {
    phi_B[t] = mean_phi_B;
    psi_AB[t] = mean_psi_AB;
    psi_BA[t] = mean_psi_BA;
    p_A[t] = mean_p_A;
    p_B[t] = mean_p_B;
  }
  for (i in 1:nind) {
    for (t in 1:n_occ_minus_1) {
      ps[1, i, t, 1] = phi_A[t] * (1.0 - psi_AB[t]);
      ps[1, i, t, 2] = phi_A[t] * psi_AB[t];
      ps[1, i, t, 3] = 1.0 - phi_A[t];
      ps[2, i, t, 1] = phi_B[t] * psi_BA[t];
      ps[2, i, t, 2] = phi_B[t] * (1 - psi_BA[t]);
      ps[2, i, t, 3] = 1.0 - phi_B[t];
      ps[3, i, t, 1] = 0.0;
      ps[3, i, t, 2] = 0.0;
      ps[3, i, t, 3] = 1.0;
      po[1, i, t, 1] = p_A[t];
      po[1, i, t, 2] = 0.0;
      po[1, i, t, 3] = 1.0 - p_A[t];
      po[2, i, t, 1] = 0.0;
      po[2, i, t, 2] = p_B[t];
      po[2, i, t, 3] = 1.0 - p_B[t];
      po[3, i, t, 1] = 0.0;
      po[3, i, t, 2] = 0.0;
      po[3, i, t, 3] = 1.0;
    }
  }
}
model {
  array[3] real acc;
  array[n_occasions] vector[3] gam;
  for (i in 1:nind) {
    if (first[i] > 0) {
      for (k in 1:3)
        gam[first[i], k] = (k == y[i, first[i]]);
      for (t in (first[i] + 1):n_occasions) {
        for (k in 1:3) {
          for (j in 1:3)
            acc[j] = gam[t - 1, j] * ps[j, i, t - 1, k] * po[k, i, t - 1, y[i, t]];
          gam[t, k] = sum(acc);
        }
      }
      target += log(sum(gam[n_occasions]));
    }
  }
}
