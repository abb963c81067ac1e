// Lines between points.
#include <adit/einsum.hpp>

#include "graph/build/arguments.hpp"

namespace adit {

using namespace graph;

namespace interpolation {

void check(const Tensor& x, const Tensor& places, const Tensor& values) {
  constexpr std::string_view op = "interpolate";
  expect_tensor(op, "x", x);
  expect_tensor(op, "places", places);
  expect_tensor(op, "values", values);
  for (const auto& [name, part] : {std::pair<std::string_view, const Tensor&>{"x", x}, {"places", places}})
    if (is_complex(part.dtype()))
      fail(op, name, fmt::format("expected real numbers, got {}", name_of(part.dtype())));
  if (places.rank() != 1 || places.size() == 0)
    fail(op, "places",
         fmt::format("expected numbers in a vector, got the shape {}", to_string(places.shape())));
  if (!(values.shape() == places.shape()))
    fail(op, "values",
         fmt::format("expected one for each of {} places, got the shape {}", places.size(),
                     to_string(values.shape())));
}

Tensor element(const Tensor& x, int64_t at) { return reshape(slice(x, {at}, {1}), {}); }

// Between the two points around x. The products may be NaN where values are infinite: then from the other
// end, and where both ends are equal that value, as NumPy does.
Tensor between(const Tensor& x, const Tensor& places, const Tensor& values) {
  const int64_t n = places.size();
  const Tensor above = searchsorted(places, x, Side::right);
  const auto whole = [&](int64_t number) { return constant_integer(above.dtype(), number); };
  const Tensor low = clip(above - whole(1), whole(0), whole(n - 2)), high = low + whole(1);
  const Tensor x0 = take(places, low), x1 = take(places, high), y0 = take(values, low),
               y1 = take(values, high);
  const Tensor width = select(equal(x0, x1), constant(x.dtype(), 1), x1 - x0);
  const Tensor slope = (y1 - y0) / width;
  const Tensor from_low = slope * (x - x0) + y0, from_high = slope * (x - x1) + y1;
  const Tensor level = select(equal(y0, y1), y0, from_high);
  const Tensor line = select(is_nan(from_low), select(is_nan(from_high), level, from_high), from_low);
  return select(equal(x, x0), y0, line);
}

Tensor real_line(const Tensor& x, const Tensor& places, const Tensor& values,
                 const std::optional<double>& left, const std::optional<double>& right) {
  const int64_t n = places.size();
  const Tensor first = element(places, 0), last = element(places, n - 1);
  const Tensor at_first = element(values, 0), at_last = element(values, n - 1);
  Tensor line = n == 1 ? broadcast_to(at_first, x.shape()) : between(x, places, values);
  line = select(equal(x, last), at_last, line);
  line = select(greater(x, last), right ? number_like(values, *right) : at_last, line);
  line = select(less(x, first), left ? number_like(values, *left) : at_first, line);
  return select(is_nan(x), x, line);
}

}  // namespace interpolation

Tensor interpolate(const Tensor& x, const Tensor& places, const Tensor& values,
                   const InterpolateOptions& options) {
  interpolation::check(x, places, values);
  const DType type = promote(promote(float_of(x.dtype()), places.dtype()), values.dtype());
  const DType working = size_of(type) == 2 ? DType::f32 : real_of(type);
  const Tensor at = as_type(x, working), from = as_type(places, working);
  if (x.size() == 0) return as_type(at, type);
  if (!is_complex(type))
    return as_type(interpolation::real_line(at, from, as_type(values, working), options.left, options.right),
                   type);
  // A number beyond the ends has no imaginary part.
  const auto none = [](const std::optional<double>& end) {
    return end ? std::optional<double>(0) : std::nullopt;
  };
  const Tensor whole = as_type(values, type);
  return complex(interpolation::real_line(at, from, real(whole), options.left, options.right),
                 interpolation::real_line(at, from, imag(whole), none(options.left), none(options.right)));
}

}  // namespace adit
