// Autocovariances of columns, made lag by lag as far as they are asked for.
#pragma once

#include <cstdint>
#include <vector>

namespace adit::diagnostics {

class Autocovariances {
 public:
  // Columns one after the other, each of mean zero.
  Autocovariances(std::vector<double> centred, int64_t columns);
  // The mean over columns of sum_i x[i] x[i + lag] / rows.
  double at(int64_t lag);

 private:
  void extend();
  void finish();  // every lag that is left, by Fourier transform
  std::vector<double> centred_;
  int64_t columns_, rows_;
  std::vector<double> known_;
};

}  // namespace adit::diagnostics
