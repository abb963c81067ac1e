#include "posterior/diagnostics/fourier.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace adit::diagnostics {

PowerSpectrum::PowerSpectrum(int64_t rows)
    : rows_(rows),
      size_(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(2 * rows, 4))))) {
  // Twice the length and zeros: the ends do not meet.
  real_.resize(size_);
  imaginary_.resize(size_);
  power_.resize(size_);
  for (int64_t half = size_ / 2; half >= 1; half /= 2)
    for (int64_t k = 0; k < half; ++k) {
      const double angle = std::numbers::pi * static_cast<double>(k) / static_cast<double>(half);
      cosines_.push_back(std::cos(angle));
      sines_.push_back(std::sin(angle));
    }
}

// Decimation in frequency: natural order in, bit-reversed order out. Power does not care about the order,
// and backward() takes it as it is.
void PowerSpectrum::forward() {
  const double *cosines = cosines_.data(), *sines = sines_.data();
  for (int64_t half = size_ / 2; half >= 4; cosines += half, sines += half, half /= 2)
    for (int64_t start = 0; start < size_; start += 2 * half) {
      double *low_re = &real_[start], *low_im = &imaginary_[start];
      double *high_re = low_re + half, *high_im = low_im + half;
      for (int64_t k = 0; k < half; ++k) {
        const double re = low_re[k] - high_re[k], im = low_im[k] - high_im[k];
        low_re[k] += high_re[k];
        low_im[k] += high_im[k];
        high_re[k] = re * cosines[k] + im * sines[k];
        high_im[k] = im * cosines[k] - re * sines[k];
      }
    }
  quarter_turns();
}

// The last two steps of four values each: the factors are 1 and -i.
void PowerSpectrum::quarter_turns() {
  double *re = real_.data(), *im = imaginary_.data();
  for (int64_t i = 0; i < size_; i += 4) {
    const double a = re[i] + re[i + 2], b = re[i + 1] + re[i + 3], c = re[i] - re[i + 2],
                 d = re[i + 1] - re[i + 3];
    const double p = im[i] + im[i + 2], q = im[i + 1] + im[i + 3], r = im[i] - im[i + 2],
                 s = im[i + 1] - im[i + 3];
    re[i] = a + b, re[i + 1] = a - b, re[i + 2] = c + s, re[i + 3] = c - s;
    im[i] = p + q, im[i + 1] = p - q, im[i + 2] = r - d, im[i + 3] = r + d;
  }
}

// Decimation in time: bit-reversed order in, natural order out; not divided by the size.
void PowerSpectrum::backward() {
  const double *cosines = cosines_.data() + cosines_.size(), *sines = sines_.data() + sines_.size();
  for (int64_t half = 1; half < size_; half *= 2) {
    cosines -= half;
    sines -= half;
    for (int64_t start = 0; start < size_; start += 2 * half) {
      double *re = &real_[start], *im = &imaginary_[start];
      for (int64_t k = 0; k < half; ++k) {
        const double re_turned = re[k + half] * cosines[k] - im[k + half] * sines[k];
        const double im_turned = im[k + half] * cosines[k] + re[k + half] * sines[k];
        re[k + half] = re[k] - re_turned;
        im[k + half] = im[k] - im_turned;
        re[k] += re_turned;
        im[k] += im_turned;
      }
    }
  }
}

// One as the real, one as the imaginary part: the power of the sum transforms back to the sum of both
// products.
void PowerSpectrum::add(const double* first, const double* second) {
  std::fill(real_.begin(), real_.end(), 0.0);
  std::fill(imaginary_.begin(), imaginary_.end(), 0.0);
  std::copy_n(first, rows_, real_.begin());
  if (second) std::copy_n(second, rows_, imaginary_.begin());
  forward();
  for (int64_t i = 0; i < size_; ++i) power_[i] += real_[i] * real_[i] + imaginary_[i] * imaginary_[i];
}

std::vector<double> PowerSpectrum::products() {
  real_ = power_;
  std::fill(imaginary_.begin(), imaginary_.end(), 0.0);
  backward();
  std::vector<double> result(real_.begin(), real_.begin() + rows_);
  for (double& value : result) value /= static_cast<double>(size_);
  return result;
}

}  // namespace adit::diagnostics
