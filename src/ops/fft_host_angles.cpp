#include "ops/fft_host_angles.hpp"

#include <cmath>
#include <numbers>

namespace adit::ops::fft_host {

// An eighth of a turn is what sine and cosine see, so that nothing is lost.
std::complex<double> turn_of(uint64_t step, uint64_t turns) {
  step %= turns;
  const uint64_t eighth = step * 8 / turns;
  const auto angle = [&](uint64_t part) {
    return 2 * std::numbers::pi * static_cast<double>(part) / static_cast<double>(turns) / 8;
  };
  const uint64_t eighths = step * 8;
  double c = 0, s = 0;
  switch (eighth) {
    case 0: c = std::cos(angle(eighths)), s = std::sin(angle(eighths)); break;
    case 1: s = std::cos(angle(2 * turns - eighths)), c = std::sin(angle(2 * turns - eighths)); break;
    case 2: s = std::cos(angle(eighths - 2 * turns)), c = -std::sin(angle(eighths - 2 * turns)); break;
    case 3: c = -std::cos(angle(4 * turns - eighths)), s = std::sin(angle(4 * turns - eighths)); break;
    case 4: c = -std::cos(angle(eighths - 4 * turns)), s = -std::sin(angle(eighths - 4 * turns)); break;
    case 5: s = -std::cos(angle(6 * turns - eighths)), c = -std::sin(angle(6 * turns - eighths)); break;
    case 6: s = -std::cos(angle(eighths - 6 * turns)), c = std::sin(angle(eighths - 6 * turns)); break;
    default: c = std::cos(angle(8 * turns - eighths)), s = -std::sin(angle(8 * turns - eighths));
  }
  return {c, -s};
}

std::complex<double> turn_of(uint64_t step, uint64_t turns, bool backward) {
  const std::complex<double> turn = turn_of(step, turns);
  return backward ? std::conj(turn) : turn;
}

std::complex<double> chirp_of(uint64_t j, uint64_t n, bool backward) {
  return turn_of(j * j % (2 * n), 2 * n, backward);
}

}  // namespace adit::ops::fft_host
