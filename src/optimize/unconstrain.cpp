#include "optimize/unconstrain.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <span>

#include <adit/ops.hpp>

#include "graph/node.hpp"
#include "optimize/log_density.hpp"

namespace adit::optimizing {

namespace {

constexpr int64_t rows_at_once = 4096;
// Files round: what comes back from the unconstrained scale may differ by as much, but by no more.
constexpr double rounding = 1e-5;

// The variables that have values, each with a placeholder of its value, what that is unconstrained, and the
// constrained value of that again.
struct Inverses {
  std::vector<const stats::ModelVariable*> variables;
  Tensors values, free, back;
};

Inverses inverses_of(const stats::ModelState& model, const NamedValues& values) {
  Inverses found;
  Tensors from, to;
  for (const stats::ModelVariable& variable : model.variables) {
    if (!values.contains(variable.name)) continue;
    const Tensor x = graph::placeholder(DType::f64, variable.shape);
    Tensor free = graph::substitute(std::vector{variable.constraint.unconstrain(x)}, from, to)[0];
    free = reshape(free, variable.unconstrained.shape());
    from.push_back(variable.unconstrained);
    to.push_back(free);
    found.variables.push_back(&variable);
    found.values.push_back(x);
    found.free.push_back(free);
    found.back.push_back(graph::substitute(std::vector{variable.value}, from, to)[0]);
  }
  return found;
}

std::string words_of(std::span<const double> numbers) {
  std::string words;
  for (size_t i = 0; i < numbers.size() && i < 8; ++i)
    words += fmt::format("{}{:g}", i ? ", " : "", numbers[i]);
  return numbers.size() > 8 ? words + ", ..." : words;
}

bool is_same(std::span<const double> x, std::span<const double> back) {
  double scale = 1;
  for (const double number : x)
    if (std::isfinite(number)) scale = std::max(scale, std::abs(number));
  for (size_t i = 0; i < x.size(); ++i)
    if (!(std::abs(x[i] - back[i]) <= rounding * scale)) return false;
  return true;
}

void expect_inside(const stats::ModelVariable& variable, std::span<const double> x,
                   std::span<const double> free, std::span<const double> back, int64_t row,
                   const Unconstraining& how) {
  bool is_number = true, on_bound = false;
  for (const double number : free) {
    is_number = is_number && !std::isnan(number);
    on_bound = on_bound || std::isinf(number);
  }
  const bool inside = is_number && is_same(x, back);
  if (inside && (!on_bound || how.may_touch_bounds)) return;
  const Constraint& constraint = variable.constraint;
  const bool has_infinite = std::any_of(x.begin(), x.end(), [](double v) { return !std::isfinite(v); });
  const std::string expected = has_infinite                  ? "finite numbers"
                               : constraint.expected.empty() ? constraint.name
                                                             : constraint.expected;
  throw Error(ErrorKind::bad_argument,
              fmt::format("{}: expected {} for {}{}, got {}{}", how.where, expected, variable.name,
                          inside && !has_infinite ? ", not on the bound" : "", words_of(x),
                          how.row_name ? " in " + how.row_name(row) : ""));
}

}  // namespace

void expect_values(const stats::ModelState& model, const NamedValues& values, int64_t count, bool complete,
                   const std::string& where) {
  std::string names;
  for (const auto& variable : model.variables) names += (names.empty() ? "" : ", ") + variable.name;
  for (const auto& [name, numbers] : values) {
    const auto found = std::find_if(model.variables.begin(), model.variables.end(),
                                    [&name = name](const auto& variable) { return variable.name == name; });
    if (found == model.variables.end())
      throw Error(ErrorKind::bad_argument,
                  fmt::format("{}: expected variables among {}, got \"{}\"", where, names, name));
    const int64_t wanted = count * element_count(found->shape);
    if (std::ssize(numbers) != wanted)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("{}: expected {} numbers for {}, {} of shape {}, got {}", where, wanted, name,
                              count, to_string(found->shape), numbers.size()));
  }
  if (!complete) return;
  for (const auto& variable : model.variables)
    if (!values.contains(variable.name))
      throw Error(ErrorKind::bad_argument,
                  fmt::format("{}: expected values of {}, got none", where, variable.name));
}

void put_values(const stats::ModelState& model, const NamedValues& values, const Unconstraining& how,
                const std::shared_ptr<Device>& device, std::vector<double>& points) {
  const Inverses inverses = inverses_of(model, values);
  if (inverses.variables.empty()) return;
  Tensors graphs = inverses.free;
  graphs.insert(graphs.end(), inverses.back.begin(), inverses.back.end());
  const int64_t size = model.size, count = std::ssize(points) / size, block = std::min(count, rows_at_once);
  const size_t kinds = inverses.variables.size();
  for (int64_t next = 0; next < count; next += block) {
    const int64_t first = std::min(next, count - block);
    const auto part = [&](const std::vector<double>& all, int64_t width) {
      return std::span(all.data() + first * width, static_cast<size_t>(block * width));
    };
    std::vector<stats::PointInput> inputs;
    for (size_t i = 0; i < kinds; ++i) {
      const stats::ModelVariable& variable = *inverses.variables[i];
      Shape shape = variable.shape;
      shape.insert(0, block);
      inputs.push_back({inverses.values[i],
                        tensor(part(values.at(variable.name), element_count(variable.shape)), shape, device),
                        true});
    }
    const Tensors found =
        stats::at_points(model, graphs, tensor(part(points, size), {block, size}, device), inputs, block);
    eval(found);
    for (size_t i = 0; i < kinds; ++i) {
      const stats::ModelVariable& variable = *inverses.variables[i];
      const auto free = found[i].to_vector<double>(), back = found[kinds + i].to_vector<double>();
      const auto width = static_cast<size_t>(element_count(variable.shape));
      const auto narrow = static_cast<size_t>(variable.size);
      const auto x = part(values.at(variable.name), static_cast<int64_t>(width));
      for (size_t row = 0; row < static_cast<size_t>(block); ++row) {
        const std::span own = std::span(free).subspan(row * narrow, narrow);
        expect_inside(variable, x.subspan(row * width, width), own,
                      std::span(back).subspan(row * width, width), first + static_cast<int64_t>(row), how);
        std::copy(own.begin(), own.end(),
                  points.begin() + (first + static_cast<int64_t>(row)) * size + variable.offset);
      }
    }
  }
}

}  // namespace adit::optimizing
