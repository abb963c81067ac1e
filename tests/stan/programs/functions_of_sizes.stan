// Functions whose results have sizes that follow from their arguments.
functions {
  matrix outer(vector a, vector b) {
    matrix[rows(a), rows(b)] m;
    for (i in 1:rows(a))
      for (j in 1:rows(b))
        m[i, j] = a[i] * b[j];
    return m;
  }
  vector smooth(vector x, int w) {
    int n = rows(x);
    vector[n] y;
    for (i in 1:n) {
      int lo = max(1, i - w);
      int hi = min(n, i + w);
      y[i] = mean(x[lo:hi]);
    }
    return y;
  }
  array[] int where_over(array[] int x, int c) {
    int k = 0;
    for (v in x)
      k += v > c;
    array[k] int w;
    k = 0;
    for (i in 1:size(x))
      if (x[i] > c) {
        k += 1;
        w[k] = i;
      }
    return w;
  }
}
data {
  int N;
  array[N] int k;
}
parameters {
  vector[N] x;
  vector[4] z;
}
model {
  x ~ std_normal();
  z ~ std_normal();
  target += -0.1 * sum(square(outer(x, z))) - dot_self(smooth(x, 2))
            + sum(x[where_over(k, 2)]);
  for (w in 1:5)
    target += 0.1 * sum(smooth(x, w));
}
