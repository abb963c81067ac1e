#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include <adit/fft.hpp>
#include <adit/ops.hpp>

#include "graph/build/arguments.hpp"
#include "graph/fourier.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"
#include "kernel/eighth_turn.hpp"

namespace adit {

using graph::Op;

namespace fourier {
namespace {

// Kernels have transforms of primes up to 13 (src/ops/fft.hpp).
bool is_smooth(int64_t n) {
  for (int64_t factor = 2; factor <= 13; ++factor)
    while (n % factor == 0) n /= factor;
  return n == 1;
}

// --- Along one axis ----------------------------------------------------------------------------------------
// x from `start` on, `count` elements in steps of `stride`.
Tensor part(const Tensor& x, int axis, int64_t start, int64_t count, int64_t stride = 1) {
  Dims starts = Dims::filled(x.rank(), 0), lengths = x.shape(), strides = Dims::filled(x.rank(), 1);
  starts[axis] = start;
  lengths[axis] = count == 0 ? 0 : (count - 1) * stride + 1;
  strides[axis] = stride;
  return slice(x, starts, lengths, strides);
}

Tensor with_length(const Tensor& x, int axis, int64_t length) {
  if (x.dim(axis) == length) return x;
  if (x.dim(axis) > length) return part(x, axis, 0, length);
  std::vector<Padding> padding(static_cast<size_t>(x.rank()));
  padding[static_cast<size_t>(axis)].high = length - x.dim(axis);
  return pad(x, graph::constant(x.dtype(), 0), padding);
}

// A vector that lies along an axis of tensors of this rank.
Tensor along(const Tensor& x, int axis, int rank) {
  Shape shape = Shape::filled(rank, 1);
  shape[axis] = x.dim(0);
  return reshape(x, shape);
}

// (cos x, sin x) of an eighth of a turn to both sides: far less work than of any angle.
std::pair<Tensor, Tensor> near_zero(const Tensor& x) {
  const DType type = x.dtype();
  const auto number = [&](double value) { return graph::constant(type, value); };
  const Tensor z = x * x;
  const auto polynomial = [&](std::span<const double> coefficients) {
    Tensor sum = number(coefficients.back());
    for (size_t i = coefficients.size() - 1; i-- > 0;) sum = sum * z + number(coefficients[i]);
    return sum;
  };
  const bool is_short = type == DType::f32;
  const Tensor odd = polynomial(is_short ? std::span<const double>(kernel::eighth_turn::sine_f32)
                                         : kernel::eighth_turn::sine_f64);
  const Tensor even = polynomial(is_short ? std::span<const double>(kernel::eighth_turn::cosine_f32)
                                          : kernel::eighth_turn::cosine_f64);
  return {z * z * even + (z * number(-0.5) + number(1)), x * z * odd + x};
}

// exp(-2 pi i p / turns), or its conjugate, of whole numbers 0 <= p < turns. The nearest quarter turn is
// taken off in whole numbers, so that sine and cosine see what is left as exactly as their type can hold it.
Tensor turned(const Tensor& p, int64_t turns, DType type, bool conjugated) {
  const auto whole = [&](int64_t n) { return graph::constant_integer(p.dtype(), n); };
  const Tensor quarter = quotient(p * whole(8) + whole(turns), whole(2 * turns));
  const Tensor rest = p * whole(4) - quarter * whole(turns);
  const DType real_type = real_of(type);
  const Tensor angle = as_type(rest, real_type) *
                       graph::constant(real_type, std::numbers::pi / 2 / static_cast<double>(turns));
  const auto [c, s] = near_zero(angle);
  const Tensor is_odd = not_equal(bitwise_and(quarter, whole(1)), whole(0));
  const Tensor re = select(is_odd, s, c), im = select(is_odd, c, s);
  const Tensor flips_re = not_equal(bitwise_and(quarter + whole(1), whole(2)), whole(0));
  const Tensor flips_im = not_equal(bitwise_and(quarter, whole(2)), whole(0));
  return complex(select(flips_re, -re, re),
                 conjugated ? select(flips_im, -im, im) : select(flips_im, im, -im));
}

DType whole_type(int64_t largest) { return largest < int64_t{1} << 31 ? DType::i32 : DType::i64; }

// Of complex numbers.
Tensor transformed(const Tensor& x, int axis, bool inverse) {
  if (x.dim(axis) == 1 || x.size() == 0) return x;
  return graph::make(inverse ? Op::ifft : Op::fft, {x}, graph::OneAxis{axis});
}

// --- Real numbers ------------------------------------------------------------------------------------------
// Even and odd elements are the parts of half as many complex numbers. Their transform Z splits into those of
// the two by its symmetry, E = (Z_k + conj Z_(m-k)) / 2 and i O = (Z_k - conj Z_(m-k)) / 2, which a last
// butterfly joins.
Tensor of_real(const Tensor& x, int axis) {
  const int64_t n = x.dim(axis), m = n / 2;
  const DType type = complex_of(x.dtype());
  if (n % 2 != 0) return part(transformed(as_type(x, type), axis, false), axis, 0, m + 1);
  const Tensor z = transformed(complex(part(x, axis, 0, m, 2), part(x, axis, 1, m, 2)), axis, false);
  const Tensor all = concatenate({z, part(z, axis, 0, 1)}, axis), mirrored = conjugate(reverse(all, {axis}));
  const Tensor turns = along(turned(arange(m + 1, whole_type(8 * n)), n, type, false), axis, x.rank());
  const Tensor half = graph::constant(type, 0.5), minus_half_i = graph::constant_complex(type, 0, -0.5);
  return (all + mirrored) * half + (all - mirrored) * (turns * minus_half_i);
}

// n real numbers from the first half of their transform. Of its ends only the real parts count.
Tensor to_real(const Tensor& x, int axis, int64_t n) {
  const int64_t m = n / 2;
  if (n % 2 != 0) {
    const Tensor mirrored = conjugate(reverse(part(x, axis, 1, m), {axis}));
    return real(transformed(concatenate({x, mirrored}, axis), axis, true));
  }
  const DType type = x.dtype(), whole = whole_type(8 * n);
  const auto number = [&](int64_t value) { return graph::constant_integer(whole, value); };
  const Tensor place = arange(m + 1, whole);
  const Tensor is_end = along(logical_or(equal(place, number(0)), equal(place, number(m))), axis, x.rank());
  const Tensor own = complex(real(x), select(is_end, graph::constant(real_of(type), 0), imag(x)));
  const Tensor mirrored = conjugate(reverse(own, {axis}));
  const Tensor turns = along(turned(arange(m, whole), n, type, true), axis, x.rank());
  const Tensor a = part(own, axis, 0, m), b = part(mirrored, axis, 0, m);
  const Tensor half = graph::constant(type, 0.5), half_i = graph::constant_complex(type, 0, 0.5);
  const Tensor z = transformed((a + b) * half + (a - b) * (turns * half_i), axis, true);
  Shape shape = x.shape();
  shape[axis] = n;
  return reshape(stack({real(z), imag(z)}, axis + 1), shape);
}

// --- Arguments ---------------------------------------------------------------------------------------------
// Longer ones fit no memory; squares of places along an axis with large primes are whole numbers of 64 bits.
constexpr int64_t most_smooth = int64_t{1} << 40, most_of_others = int64_t{1} << 30;

int64_t expect_length(std::string_view op, int64_t length) {
  if (length < 1) graph::fail(op, "length", fmt::format("expected at least 1, got {}", length));
  if (length > most_smooth || (length > most_of_others && !is_smooth(length)))
    graph::fail(op, "length",
                fmt::format("expected at most 2^40, and 2^30 with a prime factor above 13, got {}", length));
  return length;
}

struct Argument {
  Tensor x;
  int axis = 0;
};

Argument argument_of(std::string_view op, const Tensor& x, int axis, std::optional<int64_t> length) {
  graph::expect_tensor(op, "x", x);
  const int normal = graph::normal_axis(op, axis, x.rank());
  const int64_t wanted = length.value_or(x.dim(normal));
  if (!length && wanted < 1)
    graph::fail(op, "x", fmt::format("expected an axis of at least 1 element, got {}", to_string(x.shape())));
  return {with_length(x, normal, expect_length(op, wanted)), normal};
}

Tensor as_complex(const Tensor& x) { return as_type(x, complex_of(x.dtype())); }

Tensor along_one(std::string_view op, const Tensor& x, int axis, std::optional<int64_t> length,
                 bool inverse) {
  const Argument argument = argument_of(op, x, axis, length);
  return transformed(as_complex(argument.x), argument.axis, inverse);
}

Axes axes_of(std::string_view op, const Tensor& x, const Axes& axes, const Dims& lengths) {
  graph::expect_tensor(op, "x", x);
  Axes chosen = axes;
  if (chosen.empty()) {
    const int count = lengths.empty() ? x.rank() : lengths.size();
    for (int i = 0; i < count; ++i) chosen.push_back(i - count);
  }
  if (!lengths.empty() && lengths.size() != chosen.size())
    graph::fail(op, "lengths",
                fmt::format("expected {}, one an axis, got {}", chosen.size(), lengths.size()));
  graph::normal_axes(op, chosen, x.rank());
  for (int64_t& axis : chosen) axis = graph::normal_axis(op, axis, x.rank());
  return chosen;
}

Tensor along_several(std::string_view op, const Tensor& x, const Axes& axes, const Dims& lengths,
                     bool inverse) {
  const Axes chosen = axes_of(op, x, axes, lengths);
  Tensor result = x;
  for (int i = 0; i < chosen.size(); ++i) {
    std::optional<int64_t> length;
    if (!lengths.empty()) length = lengths[i];
    result = argument_of(op, result, static_cast<int>(chosen[i]), length).x;
  }
  result = as_complex(result);
  for (int i = chosen.size(); i-- > 0;) result = transformed(result, static_cast<int>(chosen[i]), inverse);
  return result;
}

void expect_two(std::string_view op, const Axes& axes) {
  if (axes.size() != 2) graph::fail(op, "axes", fmt::format("expected 2, got {}", to_string(axes)));
}

}  // namespace
}  // namespace fourier

bool graph::is_fourier(Op op) { return op == Op::fft || op == Op::ifft || op == Op::rfft || op == Op::irfft; }
Tensor graph::rfft_by_fft(const Tensor& x, int axis) { return fourier::of_real(x, axis); }
Tensor graph::irfft_by_fft(const Tensor& x, int axis, int64_t length) {
  return fourier::to_real(x, axis, length);
}

Tensor fft(const Tensor& x, int axis, std::optional<int64_t> length) {
  return fourier::along_one("fft", x, axis, length, false);
}
Tensor ifft(const Tensor& x, int axis, std::optional<int64_t> length) {
  return fourier::along_one("ifft", x, axis, length, true);
}

Tensor rfft(const Tensor& x, int axis, std::optional<int64_t> length) {
  graph::expect_tensor("rfft", "x", x);
  if (is_complex(x.dtype()))
    graph::fail("rfft", "x", fmt::format("expected real numbers, got {}", name_of(x.dtype())));
  const fourier::Argument argument = fourier::argument_of("rfft", x, axis, length);
  const Tensor real = as_type(argument.x, real_of(complex_of(x.dtype())));
  if (real.size() == 0 || real.dim(argument.axis) == 1) return fourier::of_real(real, argument.axis);
  return graph::make(Op::rfft, {real}, graph::OneAxis{argument.axis});
}

Tensor irfft(const Tensor& x, int axis, std::optional<int64_t> length) {
  graph::expect_tensor("irfft", "x", x);
  const int normal = graph::normal_axis("irfft", axis, x.rank());
  if (!length && x.dim(normal) < 2)
    graph::fail(
        "irfft", "x",
        fmt::format("expected an axis of at least 2 elements, or a length, got {}", to_string(x.shape())));
  const int64_t n = fourier::expect_length("irfft", length.value_or(2 * (x.dim(normal) - 1)));
  const Tensor half = fourier::as_complex(fourier::with_length(x, normal, n / 2 + 1));
  if (half.size() == 0 || n == 1) return fourier::to_real(half, normal, n);
  return graph::make(Op::irfft, {half}, graph::AxisLength{normal, n});
}

Tensor fft2(const Tensor& x, const Axes& axes, const Dims& lengths) {
  fourier::expect_two("fft2", axes);
  return fourier::along_several("fft2", x, axes, lengths, false);
}
Tensor ifft2(const Tensor& x, const Axes& axes, const Dims& lengths) {
  fourier::expect_two("ifft2", axes);
  return fourier::along_several("ifft2", x, axes, lengths, true);
}
Tensor fftn(const Tensor& x, const Axes& axes, const Dims& lengths) {
  return fourier::along_several("fftn", x, axes, lengths, false);
}
Tensor ifftn(const Tensor& x, const Axes& axes, const Dims& lengths) {
  return fourier::along_several("ifftn", x, axes, lengths, true);
}

}  // namespace adit
