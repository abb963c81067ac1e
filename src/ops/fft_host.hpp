// Discrete Fourier transforms on a CPU, of any length: passes of blocks of columns (fft_host_pass.hpp), by
// all threads. Lengths with a prime factor above most_host_radix are convolutions: with a chirp, in the same
// passes, or of length p - 1 where a column has p numbers, a prime, and p - 1 has no such factor.
//
// n real numbers, n even, are the parts of n / 2 complex ones, even places and odd ones. Their transform Z
// splits into those of the two by its symmetry, E = (Z_k + conj Z_(m-k)) / 2 and i O = (Z_k - conj Z_(m-k))
// / 2, m = n / 2, which a last butterfly joins: X_k = E + exp(-2 pi i k / n) O. Back the same way.
// Where n is odd, two rows are the parts of complex numbers.
#pragma once

#include <cstdint>
#include <memory>

namespace adit::ops {

struct HostFft {
  enum class Kind { complex, of_real, to_real };  // of_real: to n / 2 + 1 results; to_real: from them

  bool is_double = false;
  Kind kind = Kind::complex;
  bool inverse = false;                       // of complex numbers; divided by the length, as to_real is
  uint64_t outer = 1, length = 1, inner = 1;  // rows of `length` numbers that are `inner` apart
};

class HostFftPlan {
 public:
  virtual ~HostFftPlan() = default;
  virtual uint64_t scratch_bytes() const = 0;
  virtual void run(const void* x, void* result, void* scratch) const = 0;
};
std::shared_ptr<const HostFftPlan> host_fft(const HostFft& wanted);

}  // namespace adit::ops
