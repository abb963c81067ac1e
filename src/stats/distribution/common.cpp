#include "stats/distribution/common.hpp"

#include <cmath>
#include <fmt/format.h>

#include "graph/operands.hpp"
#include "graph/row.hpp"
#include "stats/known.hpp"

namespace adit::stats {

using graph::fail;

namespace {

// The frame of functions of x.
std::function<Tensor(const Tensor&)> of_reals(const std::string& name, const Shape& batch, const Shape& event,
                                              std::function<Tensor(const Tensor&)> formula) {
  if (!formula) return {};
  return [name, batch, event, formula = std::move(formula)](const Tensor& x) {
    if (!x) fail(name, "x", "expected a tensor, got none");
    if (is_complex(x.dtype()))
      fail(name, "x", fmt::format("expected real numbers, got {}", name_of(x.dtype())));
    const Shape lead(std::span(x.shape().begin(), static_cast<size_t>(std::max(0, x.rank() - event.size()))));
    if (joined(lead, event) != x.shape())
      fail(name, "x",
           fmt::format("expected a shape that ends with {}, got {}", to_string(event), to_string(x.shape())));
    batch_of(name, {{"parameters", batch}, {"x", lead}});
    return formula(as_type(x, DType::f64));
  };
}

std::function<Tensor()> of_shape(const Shape& shape, std::function<Tensor()> formula) {
  if (!formula) return {};
  return [shape, formula = std::move(formula)] { return broadcast_to(formula(), shape); };
}

// Whether the last axes of `shape` are those of `end`, extents of 1 in `end` aside.
bool ends_with(const Shape& shape, const Shape& end) {
  if (end.size() > shape.size()) return false;
  for (int axis = 0; axis < end.size(); ++axis) {
    const int64_t wanted = end[end.size() - 1 - axis];
    if (wanted != 1 && wanted != shape[shape.size() - 1 - axis]) return false;
  }
  return true;
}

}  // namespace

bool is_literal(const Tensor& x, double value) {
  const auto literal = literal_of(x);
  return literal && *literal == value;
}

NamedParameter checked(std::string_view where, std::string_view argument, const Tensor& x,
                       const Domain& domain) {
  NamedParameter made{std::string(argument), x, &domain};
  expect_inside(where, made);
  return made;
}

namespace {

constexpr Domain finite_numbers{"a finite number", [](double v) { return std::isfinite(v); }};
constexpr Domain positive_numbers{"a positive number", [](double v) { return v > 0 && std::isfinite(v); }};
constexpr Domain numbers_from_zero{"a number of at least 0",
                                   [](double v) { return v >= 0 && std::isfinite(v); }};
constexpr Domain numbers{"a number", [](double v) { return !std::isnan(v); }};
constexpr Domain probabilities{"a number from 0 to 1", [](double v) { return v >= 0 && v <= 1; }};
constexpr Domain counts{"a whole number of at least 0",
                        [](double v) { return v >= 0 && std::isfinite(v) && std::trunc(v) == v; }};
constexpr Domain widths{"a positive number", [](double v) { return v > 0; }};

}  // namespace

NamedParameter finite(std::string_view where, std::string_view argument, const Parameter& x) {
  return checked(where, argument, x, finite_numbers);
}
NamedParameter positive(std::string_view where, std::string_view argument, const Parameter& x) {
  return checked(where, argument, x, positive_numbers);
}
NamedParameter not_negative(std::string_view where, std::string_view argument, const Parameter& x) {
  return checked(where, argument, x, numbers_from_zero);
}
NamedParameter not_nan(std::string_view where, std::string_view argument, const Parameter& x) {
  return checked(where, argument, x, numbers);
}
NamedParameter probability(std::string_view where, std::string_view argument, const Parameter& x) {
  return checked(where, argument, x, probabilities);
}
NamedParameter count(std::string_view where, std::string_view argument, const Parameter& x) {
  return checked(where, argument, x, counts);
}

NamedParameter width(std::string_view where, const Tensor& low, const Tensor& high) {
  const auto from = literal_of(low), to = literal_of(high);
  if (from && to && !(*from < *to))
    fail(where, "high", fmt::format("expected above low, {}, got {}", *from, *to));
  batch_of(where, {{"low", low.shape()}, {"high", high.shape()}});
  return checked(where, "high - low", high - low, widths);
}

Tensor only_where(const NamedParameter& parameter, const Tensor& inside, const Tensor& density) {
  if (literal_of(parameter.value) || is_surely_inside(parameter)) return density;
  return density + support_term(inside);
}

Shape batch_of(std::string_view where, const std::vector<Named>& shapes) {
  Shape batch;
  const Named* largest = nullptr;
  for (const Named& each : shapes) {
    batch = graph::broadcast_shapes(where, each.name, batch, each.shape);
    if (!largest || element_count(each.shape) > element_count(largest->shape)) largest = &each;
  }
  for (const Named& each : shapes) {
    const Shape both = graph::broadcast_shapes(where, each.name, largest->shape, each.shape);
    if (element_count(both) > element_count(largest->shape))
      fail(where, each.name,
           fmt::format(
               "expected a shape that broadcasts to that of {}, {}, got {}; together they would make {}",
               largest->name, to_string(largest->shape), to_string(each.shape), to_string(both)));
  }
  return batch;
}

Shape joined(const Shape& batch, const Shape& event) {
  Shape all = batch;
  for (const int64_t extent : event) all.push_back(extent);
  return all;
}

Distribution make_distribution(std::string name, const Shape& batch, const Shape& event,
                               std::vector<NamedParameter> parameters, Constraint support,
                               Formulas formulas) {
  const Shape whole = joined(batch, event);
  Distribution made;
  made.batch = batch;
  made.event = event;
  made.parameters = std::move(parameters);
  made.support = std::move(support);
  made.log_density = of_reals(name, batch, event, std::move(formulas.log_density));
  made.log_cdf = of_reals(name, batch, event, std::move(formulas.log_cdf));
  made.log_survival = of_reals(name, batch, event, std::move(formulas.log_survival));
  made.mean = of_shape(whole, std::move(formulas.mean));
  made.variance = of_shape(whole, std::move(formulas.variance));
  if (formulas.draw)
    made.draw = [name, whole, formula = std::move(formulas.draw)](const Tensor& key, const Shape& shape) {
      if (!ends_with(shape, whole))
        fail(name, "shape",
             fmt::format("expected one that ends with {}, got {}", to_string(whole), to_string(shape)));
      return broadcast_to(formula(key, shape), shape);
    };
  made.name = std::move(name);
  return made;
}

Distribution make_distribution(std::string name, std::vector<NamedParameter> parameters, Constraint support,
                               Formulas formulas) {
  std::vector<Named> shapes;
  for (const NamedParameter& each : parameters) shapes.push_back({each.name, each.value.shape()});
  const Shape batch = batch_of(name, shapes);
  return make_distribution(std::move(name), batch, {}, std::move(parameters), std::move(support),
                           std::move(formulas));
}

Tensor draw_uniform(const Tensor& key, const Shape& shape) {
  return random::uniform(key, shape, 0, 1, DType::f64);
}
// The draws are multiples of 2^-52 from 0 on: half a step further they lie inside, and 1 - u has the same
// law.
Tensor draw_open_uniform(const Tensor& key, const Shape& shape) {
  return draw_uniform(key, shape) + real(0x1p-53);
}
Tensor draw_normal(const Tensor& key, const Shape& shape) {
  return random::normal(key, shape, 0, 1, DType::f64);
}
Tensor draw_exponential(const Tensor& key, const Shape& shape) {
  return random::exponential(key, shape, 1, DType::f64);
}
Tensor draw_gamma(const Tensor& key, const Tensor& alpha, const Shape& shape) {
  return random::gamma(key, alpha, shape);
}
// A draw for alpha is one for alpha + 1 times u^(1 / alpha).
Tensor draw_log_gamma(const Tensor& key, const Tensor& alpha, const Shape& shape) {
  const Tensor keys = random::split(key);
  return log(draw_gamma(random::row(keys, 0), alpha + real(1), shape)) +
         log(draw_open_uniform(random::row(keys, 1), shape)) * reciprocal(alpha);
}

}  // namespace adit::stats
