// The operations on tensors. Types promote and shapes broadcast as in Nx; a number beside a tensor takes the
// tensor's type (a fraction beside integers makes f32). Every function checks its arguments when called and
// throws `[op] argument: expected ..., got ...`. docs/ops.md lists types, bounds and derivatives.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <adit/tensor.hpp>

#pragma GCC visibility push(default)
namespace adit {

template <class T>
concept Number = std::is_arithmetic_v<T>;

// --- Constants ---------------------------------------------------------------------------------------------
Tensor full(const Shape& shape, double number, DType type = DType::f32);
Tensor full(const Shape& shape, std::complex<double> number, DType type);
Tensor full_integer(const Shape& shape, int64_t number, DType type = DType::i64);
inline Tensor zeros(const Shape& shape, DType type = DType::f32) { return full(shape, 0.0, type); }
inline Tensor ones(const Shape& shape, DType type = DType::f32) { return full(shape, 1.0, type); }
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);
// 0, 1, 2, ... along `axis`, or over all elements in row-major order.
Tensor iota(const Shape& shape, DType type = DType::i64, std::optional<int> axis = std::nullopt);
Tensor arange(int64_t end, DType type = DType::i64);
Tensor linspace(double first, double last, int64_t count, DType type = DType::f32);
Tensor eye(int64_t rows, int64_t columns = -1, DType type = DType::f32);

// A number as a scalar tensor for an operation with `other`: it takes that tensor's type.
Tensor number_like(const Tensor& other, double number);
Tensor number_like(const Tensor& other, int64_t number);
template <Number T>
Tensor number_for(const Tensor& other, T number) {
  if constexpr (std::is_integral_v<T>)
    return number_like(other, static_cast<int64_t>(number));
  else
    return number_like(other, static_cast<double>(number));
}

// --- Elementwise, one operand ------------------------------------------------------------------------------
Tensor negate(const Tensor& x);
Tensor abs(const Tensor& x);  // of a complex number: its length
Tensor sign(const Tensor& x);
Tensor floor(const Tensor& x);
Tensor ceil(const Tensor& x);
Tensor round(const Tensor& x);  // halves away from zero
Tensor trunc(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor exp2(const Tensor& x);
Tensor expm1(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log2(const Tensor& x);
Tensor log10(const Tensor& x);
Tensor log1p(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor cbrt(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tan(const Tensor& x);
Tensor asin(const Tensor& x);
Tensor acos(const Tensor& x);
Tensor atan(const Tensor& x);
Tensor sinh(const Tensor& x);
Tensor cosh(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor asinh(const Tensor& x);
Tensor acosh(const Tensor& x);
Tensor atanh(const Tensor& x);
Tensor erf(const Tensor& x);
Tensor erfc(const Tensor& x);
Tensor erf_inv(const Tensor& x);
Tensor lgamma(const Tensor& x);
Tensor digamma(const Tensor& x);
Tensor trigamma(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor softplus(const Tensor& x);
Tensor log_sigmoid(const Tensor& x);
Tensor square(const Tensor& x);
Tensor reciprocal(const Tensor& x);
Tensor relu(const Tensor& x);
Tensor bitwise_not(const Tensor& x);
Tensor logical_not(const Tensor& x);
Tensor conjugate(const Tensor& x);
Tensor real(const Tensor& x);
Tensor imag(const Tensor& x);
Tensor phase(const Tensor& x);
Tensor is_nan(const Tensor& x);
Tensor is_infinity(const Tensor& x);
Tensor count_leading_zeros(const Tensor& x);
Tensor population_count(const Tensor& x);
Tensor as_type(const Tensor& x, DType type);
Tensor bitcast(const Tensor& x, DType type);  // of the same width
Tensor stop_gradient(const Tensor& x);

// --- Elementwise, two and three operands -------------------------------------------------------------------
Tensor add(const Tensor& a, const Tensor& b);
Tensor subtract(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);
Tensor divide(const Tensor& a, const Tensor& b);     // integers give f32
Tensor quotient(const Tensor& a, const Tensor& b);   // of integers, toward zero; 0 where b is 0
Tensor remainder(const Tensor& a, const Tensor& b);  // the sign of a; 0 where integers divide by 0
Tensor pow(const Tensor& a, const Tensor& b);
Tensor atan2(const Tensor& a, const Tensor& b);
Tensor hypot(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);  // NaN where either is
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor bitwise_and(const Tensor& a, const Tensor& b);
Tensor bitwise_or(const Tensor& a, const Tensor& b);
Tensor bitwise_xor(const Tensor& a, const Tensor& b);
Tensor left_shift(const Tensor& a, const Tensor& b);
Tensor right_shift(const Tensor& a, const Tensor& b);
Tensor equal(const Tensor& a, const Tensor& b);
Tensor not_equal(const Tensor& a, const Tensor& b);
Tensor less(const Tensor& a, const Tensor& b);
Tensor less_equal(const Tensor& a, const Tensor& b);
Tensor greater(const Tensor& a, const Tensor& b);
Tensor greater_equal(const Tensor& a, const Tensor& b);
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);
Tensor complex(const Tensor& real, const Tensor& imag);
Tensor select(const Tensor& predicate, const Tensor& on_true, const Tensor& on_false);
Tensor clip(const Tensor& x, const Tensor& low, const Tensor& high);
Tensor clip(const Tensor& x, double low, double high);

inline Tensor operator-(const Tensor& x) { return negate(x); }
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return subtract(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return multiply(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b); }
inline Tensor operator==(const Tensor& a, const Tensor& b) { return equal(a, b); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return not_equal(a, b); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return less(a, b); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return less_equal(a, b); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return greater(a, b); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return greater_equal(a, b); }

template <Number T>
Tensor operator+(const Tensor& a, T b) {
  return add(a, number_for(a, b));
}
template <Number T>
Tensor operator+(T a, const Tensor& b) {
  return add(number_for(b, a), b);
}
template <Number T>
Tensor operator-(const Tensor& a, T b) {
  return subtract(a, number_for(a, b));
}
template <Number T>
Tensor operator-(T a, const Tensor& b) {
  return subtract(number_for(b, a), b);
}
template <Number T>
Tensor operator*(const Tensor& a, T b) {
  return multiply(a, number_for(a, b));
}
template <Number T>
Tensor operator*(T a, const Tensor& b) {
  return multiply(number_for(b, a), b);
}
template <Number T>
Tensor operator/(const Tensor& a, T b) {
  return divide(a, number_for(a, b));
}
template <Number T>
Tensor operator/(T a, const Tensor& b) {
  return divide(number_for(b, a), b);
}
template <Number T>
Tensor operator==(const Tensor& a, T b) {
  return equal(a, number_for(a, b));
}
template <Number T>
Tensor operator!=(const Tensor& a, T b) {
  return not_equal(a, number_for(a, b));
}
template <Number T>
Tensor operator<(const Tensor& a, T b) {
  return less(a, number_for(a, b));
}
template <Number T>
Tensor operator<=(const Tensor& a, T b) {
  return less_equal(a, number_for(a, b));
}
template <Number T>
Tensor operator>(const Tensor& a, T b) {
  return greater(a, number_for(a, b));
}
template <Number T>
Tensor operator>=(const Tensor& a, T b) {
  return greater_equal(a, number_for(a, b));
}
// A number on the left.
template <Number T>
Tensor operator==(T a, const Tensor& b) {
  return equal(number_for(b, a), b);
}
template <Number T>
Tensor operator!=(T a, const Tensor& b) {
  return not_equal(number_for(b, a), b);
}
template <Number T>
Tensor operator<(T a, const Tensor& b) {
  return less(number_for(b, a), b);
}
template <Number T>
Tensor operator<=(T a, const Tensor& b) {
  return less_equal(number_for(b, a), b);
}
template <Number T>
Tensor operator>(T a, const Tensor& b) {
  return greater(number_for(b, a), b);
}
template <Number T>
Tensor operator>=(T a, const Tensor& b) {
  return greater_equal(number_for(b, a), b);
}

// x += y gives the name x to a new tensor; other handles of the old one keep it.
template <class T>
Tensor& operator+=(Tensor& a, const T& b) {
  return a = a + b;
}
template <class T>
Tensor& operator-=(Tensor& a, const T& b) {
  return a = a - b;
}
template <class T>
Tensor& operator*=(Tensor& a, const T& b) {
  return a = a * b;
}
template <class T>
Tensor& operator/=(Tensor& a, const T& b) {
  return a = a / b;
}

template <Number T>
Tensor pow(const Tensor& a, T b) {
  return pow(a, number_for(a, b));
}
template <Number T>
Tensor pow(T a, const Tensor& b) {
  return pow(number_for(b, a), b);
}
template <Number T>
Tensor quotient(const Tensor& a, T b) {
  return quotient(a, number_for(a, b));
}
template <Number T>
Tensor remainder(const Tensor& a, T b) {
  return remainder(a, number_for(a, b));
}
template <Number T>
Tensor minimum(const Tensor& a, T b) {
  return minimum(a, number_for(a, b));
}
template <Number T>
Tensor maximum(const Tensor& a, T b) {
  return maximum(a, number_for(a, b));
}
template <Number T>
Tensor select(const Tensor& p, const Tensor& a, T b) {
  return select(p, a, number_for(a, b));
}
template <Number T>
Tensor select(const Tensor& p, T a, const Tensor& b) {
  return select(p, number_for(b, a), b);
}

// --- Shape -------------------------------------------------------------------------------------------------
Tensor reshape(const Tensor& x, const Shape& shape);  // one extent may be -1
Tensor flatten(const Tensor& x);
Tensor squeeze(const Tensor& x, const Axes& axes = {});  // none named: every axis of extent 1
Tensor expand_dims(const Tensor& x, int axis);
Tensor transpose(const Tensor& x, const Axes& axes = {});  // none named: reversed
Tensor broadcast_to(const Tensor& x, const Shape& shape);  // trailing axes meet, as in NumPy
// Input axis i becomes output axis axes[i].
Tensor broadcast_in(const Tensor& x, const Shape& shape, const Axes& axes);
// `lengths` count before the strides, as in Nx: a length of 5 with stride 2 gives 3.
Tensor slice(const Tensor& x, const Dims& starts, const Dims& lengths, const Dims& strides = {});
// Starts are scalar integer tensors, clamped so that the slice fits.
Tensor dynamic_slice(const Tensor& x, const std::vector<Tensor>& starts, const Dims& lengths);
Tensor put_slice(const Tensor& x, const Tensor& piece, const std::vector<Tensor>& starts);
Tensor put_slice(const Tensor& x, const Tensor& piece, const Dims& starts);
struct Padding {
  int64_t low = 0, high = 0, interior = 0;  // low and high may be negative: they cut
};
Tensor pad(const Tensor& x, const Tensor& value, std::span<const Padding> padding);
Tensor concatenate(std::span<const Tensor> parts, int axis = 0);
inline Tensor concatenate(std::initializer_list<Tensor> parts, int axis = 0) {
  return concatenate(std::span(parts.begin(), parts.size()), axis);
}
Tensor stack(std::span<const Tensor> parts, int axis = 0);
inline Tensor stack(std::initializer_list<Tensor> parts, int axis = 0) {
  return stack(std::span(parts.begin(), parts.size()), axis);
}
Tensor reverse(const Tensor& x, const Axes& axes = {});
Tensor tile(const Tensor& x, const Dims& repeats);

// --- Indexing; indices outside are clamped to the axis -----------------------------------------------------
Tensor take(const Tensor& x, const Tensor& indices, int axis = 0);
Tensor take_along_axis(const Tensor& x, const Tensor& indices, int axis);
// The last axis of `indices` holds coordinates along `axes` (none named: the first ones).
Tensor gather(const Tensor& x, const Tensor& indices, const Axes& axes = {});
// Updates at coordinates, in order: repeated places add up, or the last one stays.
Tensor indexed_add(const Tensor& x, const Tensor& indices, const Tensor& updates, const Axes& axes = {});
Tensor indexed_put(const Tensor& x, const Tensor& indices, const Tensor& updates, const Axes& axes = {});

// --- Reductions; no axes named: all of them ----------------------------------------------------------------
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
Tensor product(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
Tensor reduce_max(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
Tensor reduce_min(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
enum class TieBreak : uint8_t { low, high };
Tensor argmax(const Tensor& x, std::optional<int> axis = std::nullopt, bool keep_axis = false,
              TieBreak tie_break = TieBreak::low);
Tensor argmin(const Tensor& x, std::optional<int> axis = std::nullopt, bool keep_axis = false,
              TieBreak tie_break = TieBreak::low);
Tensor all(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
Tensor any(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
Tensor variance(const Tensor& x, const Axes& axes = {}, bool keep_axes = false, int ddof = 0);
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
Tensor softmax(const Tensor& x, const Axes& axes = {-1});
Tensor log_softmax(const Tensor& x, const Axes& axes = {-1});
// `combine` takes two scalars (accumulator, element) and returns one; it is folded in row-major order.
Tensor reduce(const Tensor& x, const Tensor& initial, const Axes& axes,
              const std::function<Tensor(Tensor, Tensor)>& combine, bool keep_axes = false);

// --- Running results along an axis -------------------------------------------------------------------------
// From its start or (reverse) its end; types stay.
Tensor cumulative_sum(const Tensor& x, int axis = 0, bool reverse = false);
Tensor cumulative_product(const Tensor& x, int axis = 0, bool reverse = false);
Tensor cumulative_min(const Tensor& x, int axis = 0, bool reverse = false);
Tensor cumulative_max(const Tensor& x, int axis = 0, bool reverse = false);

// --- Products and factorisations ---------------------------------------------------------------------------
// The last axis of a with the second to last of b (or its only one).
Tensor dot(const Tensor& a, const Tensor& b);
// Result axes: batch, the rest of a, the rest of b.
Tensor dot(const Tensor& a, const Axes& contract_a, const Axes& batch_a, const Tensor& b,
           const Axes& contract_b, const Axes& batch_b);
Tensor matmul(const Tensor& a, const Tensor& b);  // as NumPy's: leading axes are batches and broadcast
Tensor outer(const Tensor& a, const Tensor& b);
Tensor cholesky(const Tensor& x);  // lower; NaN where a matrix is not positive definite
struct TriangularOptions {
  bool lower = true;
  bool left_side = true;   // a x = b, else x a = b
  bool transpose = false;  // with a's transpose
};
Tensor triangular_solve(const Tensor& a, const Tensor& b, TriangularOptions options = {});

}  // namespace adit
#pragma GCC visibility pop
