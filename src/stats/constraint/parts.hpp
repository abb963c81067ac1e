// What the constraints are made of.
#pragma once

#include <string>
#include <string_view>

#include <adit/constraint.hpp>

#include "graph/row.hpp"
#include "stats/formula.hpp"

namespace adit::stats {

// "0", "2.5", or "its bound" where the number is not known yet.
std::string number_words(const Tensor& bound);

// Throws `[where] argument: ...` where a bound does not broadcast to x's shape.
void expect_bound(std::string_view where, std::string_view argument, const Tensor& bound, const Shape& x);
// Throws where the shape has no axis, or an empty one at the end.
void expect_vector(std::string_view where, const Shape& x);
// Throws where the last two axes are not those of a square matrix.
void expect_square(std::string_view where, const Shape& x);
// The sum over a tensor of x's shape to which `term` broadcasts.
Tensor total(const Tensor& term, const Shape& x);

// 1 where the place (row l, column k) of a [size, size] matrix is on one side of the diagonal, f64. A product
// with it adds up: the engine's densities have no scan.
enum class Side : uint8_t { below, up_to, above };  // l > k, l <= k, l < k
Tensor triangle(int64_t size, Side side);

// The first `count` numbers along the last axis, or the rest.
Tensor first(const Tensor& x, int64_t count);
Tensor rest(const Tensor& x, int64_t from);
// Where all of the last `axes` axes are: one number an event.
Tensor all_of_event(const Tensor& mask, int axes);
Shape with_last(Shape shape, int64_t extent);

// With the last two axes in each other's place; the shape throws where there are fewer.
Shape turned(std::string_view where, Shape shape);
Tensor turned(const Tensor& x);

}  // namespace adit::stats
