// Covariances of time series, filled from both sides of the diagonal, of what earlier rounds of the loop around
// have put into a list; groups of different lengths take corners of them.
functions {
  matrix cholesky_cor_ar1(real ar, int nrows) {
    matrix[nrows, nrows] mat;
    vector[nrows - 1] gamma;
    mat = diag_matrix(rep_vector(1, nrows));
    for (i in 2:nrows) {
      gamma[i - 1] = pow(ar, i - 1);
      for (j in 1:(i - 1)) {
        mat[i, j] = gamma[i - j];
        mat[j, i] = gamma[i - j];
      }
    }
    return cholesky_decompose(mat ./ (1 - ar^2));
  }
  matrix arma1(real ar, real ma, int nrows) {
    matrix[nrows, nrows] mat;
    vector[nrows] gamma;
    mat = diag_matrix(rep_vector(1 + ma^2 + 2 * ar * ma, nrows));
    gamma[1] = (1 + ar * ma) * (ar + ma);
    for (i in 2:nrows) {
      gamma[i] = gamma[1] * pow(ar, i - 1);
      for (j in 1:(i - 1)) {
        mat[i, j] = gamma[i - j];
        mat[j, i] = gamma[i - j];
      }
    }
    return mat ./ (1 - ar^2);
  }
  matrix cosy(real c, int nrows) {
    matrix[nrows, nrows] mat;
    mat = diag_matrix(rep_vector(1, nrows));
    for (i in 2:nrows) {
      for (j in 1:(i - 1)) {
        mat[i, j] = c;
        mat[j, i] = mat[i, j];
      }
    }
    return mat;
  }
  real by_group_lpdf(vector y, real sigma, matrix chol, array[] int nobs,
                     array[] int begin, array[] int end) {
    int groups = size(nobs);
    vector[groups] lp;
    for (i in 1:groups) {
      matrix[nobs[i], nobs[i]] L;
      L = sigma * chol[1:nobs[i], 1:nobs[i]];
      lp[i] = multi_normal_cholesky_lpdf(y[begin[i]:end[i]] | rep_vector(0.1, nobs[i]), L);
    }
    return sum(lp);
  }
}
data {
  int N;
  int groups;
  vector[N] y;
  array[groups] int nobs;
  array[groups] int begin;
  array[groups] int end;
  int longest;
  vector[longest] x;
}
parameters {
  real<lower=-1, upper=1> ar;
  real<lower=-1, upper=1> ma;
  real<lower=0, upper=1> c;
  real<lower=0> sigma;
}
model {
  matrix[longest, longest] S = 3 * arma1(ar, ma, longest) + cosy(c, longest);
  target += by_group_lpdf(y | sigma, cholesky_cor_ar1(ar, longest), nobs, begin, end);
  x ~ multi_normal(rep_vector(0, longest), add_diag(S, 2));
}
