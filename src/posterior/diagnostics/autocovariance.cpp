#include "posterior/diagnostics/autocovariance.hpp"

#include <algorithm>

#include "posterior/diagnostics/chains.hpp"
#include "posterior/diagnostics/fourier.hpp"

namespace adit::diagnostics {
namespace {
// A transform costs as much as some forty lags by direct sums; short columns never need it.
constexpr int64_t lags_at_once = 4, direct_lags = 32, shortest_transform = 128;
}  // namespace

Autocovariances::Autocovariances(std::vector<double> centred, int64_t columns)
    : centred_(std::move(centred)), columns_(columns) {
  rows_ = static_cast<int64_t>(centred_.size()) / columns;
}

double Autocovariances::at(int64_t lag) {
  while (lag >= static_cast<int64_t>(known_.size())) {
    if (static_cast<int64_t>(known_.size()) >= direct_lags && rows_ >= shortest_transform)
      finish();
    else
      extend();
  }
  return known_[lag];
}

void Autocovariances::extend() {
  const auto first = static_cast<int64_t>(known_.size());
  const int64_t count = std::min(lags_at_once, rows_ - first);
  double sums[lags_at_once] = {};
  for (int64_t j = 0; j < columns_; ++j) {
    const double* x = &centred_[j * rows_];
    for (int64_t k = 0; k < count; ++k) {
      const double* later = x + first + k;
      sums[k] += sum_of(rows_ - first - k, [=](int64_t i) { return x[i] * later[i]; });
    }
  }
  for (int64_t k = 0; k < count; ++k) known_.push_back(sums[k] / static_cast<double>(rows_ * columns_));
}

void Autocovariances::finish() {
  PowerSpectrum spectrum(rows_);
  for (int64_t j = 0; j < columns_; j += 2)
    spectrum.add(&centred_[j * rows_], j + 1 < columns_ ? &centred_[(j + 1) * rows_] : nullptr);
  const std::vector<double> products = spectrum.products();
  for (size_t lag = known_.size(); lag < products.size(); ++lag)
    known_.push_back(products[lag] / static_cast<double>(rows_ * columns_));
}

}  // namespace adit::diagnostics
