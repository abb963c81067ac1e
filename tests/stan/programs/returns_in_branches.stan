// A function that may return inside of one condition in another, many times: what follows is run once.
functions {
  real found(vector t, vector x) {
    if (t[1] > 0.1 * x[1]) {
      if (t[2] * 1 > 1.5) 
        return t[3] * 1;
    }
    if (t[2] > 0.1 * x[2]) {
      if (t[3] * 2 > 1.5) 
        return t[4] * 2;
    }
    if (t[3] > 0.1 * x[3]) {
      if (t[4] * 3 > 1.5) 
        return t[5] * 3;
    }
    if (t[4] > 0.1 * x[4]) {
      if (t[5] * 4 > 1.5) 
        return t[1] * 4;
    }
    if (t[5] > 0.1 * x[5]) {
      if (t[1] * 5 > 1.5) 
        return t[2] * 5;
    }
    if (t[1] > 0.1 * x[6]) {
      if (t[2] * 6 > 1.5) 
        return t[3] * 6;
    }
    if (t[2] > 0.1 * x[7]) {
      if (t[3] * 7 > 1.5) 
        return t[4] * 7;
    }
    if (t[3] > 0.1 * x[8]) {
      if (t[4] * 8 > 1.5) 
        return t[5] * 8;
    }
    if (t[4] > 0.1 * x[9]) {
      if (t[5] * 9 > 1.5) 
        return t[1] * 9;
    }
    if (t[5] > 0.1 * x[10]) {
      if (t[1] * 10 > 1.5) 
        return t[2] * 10;
    }
    if (t[1] > 0.1 * x[11]) {
      if (t[2] * 11 > 1.5) 
        return t[3] * 11;
    }
    if (t[2] > 0.1 * x[12]) {
      if (t[3] * 12 > 1.5) 
        return t[4] * 12;
    }
    if (t[3] > 0.1 * x[1]) {
      if (t[4] * 13 > 1.5) 
        return t[5] * 13;
    }
    if (t[4] > 0.1 * x[2]) {
      if (t[5] * 14 > 1.5) 
        return t[1] * 14;
    }
    if (t[5] > 0.1 * x[3]) {
      if (t[1] * 15 > 1.5) 
        return t[2] * 15;
    }
    if (t[1] > 0.1 * x[4]) {
      if (t[2] * 16 > 1.5) 
        return t[3] * 16;
    }
    return t[2];
  }
}
data {
  int N;
  int M;
  vector[N] x;
}
parameters {
  vector[5] th;
}
model {
  th ~ normal(0, 1);
  target += 0.01 * found(th, x);
  for (i in 1 : N) 
    target += 0.01 * found(th * x[i], x);
}
