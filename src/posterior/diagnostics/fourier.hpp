// The power spectrum of real series and back: autocovariances at every lag.
#pragma once

#include <cstdint>
#include <vector>

namespace adit::diagnostics {

class PowerSpectrum {
 public:
  // For series of `rows` values.
  explicit PowerSpectrum(int64_t rows);
  // Adds the power of two series; `second` may be null.
  void add(const double* first, const double* second);
  // sum_i x[i] x[i + lag] over all series added, for the lags 0 to rows - 1.
  std::vector<double> products();

 private:
  void forward();
  void quarter_turns();
  void backward();
  int64_t rows_, size_;
  std::vector<double> real_, imaginary_, power_;
  std::vector<double> cosines_, sines_;  // of stage after stage, the longest first
};

}  // namespace adit::diagnostics
