#include "optimize/log_density.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include <adit/ops.hpp>

namespace adit::optimizing {

namespace {

constexpr int64_t points_at_once = 64;  // each may need as much memory as the data

bool all_finite(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

Tensors value_and_gradient(const Function& value, const Tensor& u) {
  ValueAndGrad found = value_and_grad_of(value, {u}, {0});
  return {found.value, found.grads[0]};
}

}  // namespace

bool Evaluated::is_finite() const { return std::isfinite(value) && all_finite(gradient); }

std::shared_ptr<Device> open_for_f64(const std::string& id) {
  const auto device = Device::open(id);
  return device->limits().float64 ? device : Device::open("cpu");
}

void expect_parameters(const char* where, const stats::ModelState& model) {
  if (model.size == 0)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("[{}] model: expected at least one parameter, got none in {}", where, model.name));
}

bool LogDensity::counts(const stats::ModelTerm& term) const {
  return jacobian_ || !term.name.ends_with(" (jacobian)");
}

LogDensity::LogDensity(const stats::ModelState& model, bool jacobian, std::shared_ptr<Device> device)
    : model_(model), jacobian_(jacobian), device_(std::move(device)) {
  Tensor total = full({}, 0.0, DType::f64);
  bool is_first = true;
  for (const stats::ModelTerm& term : model.terms) {
    if (!counts(term)) continue;
    total = is_first ? term.total : total + term.total;
    is_first = false;
  }
  value_ = [&model, total](const Tensors& x) { return stats::density_at_point(model, {total}, x[0]); };
  const Function value = value_;
  const Function both = [value](const Tensors& x) { return value_and_gradient(value, x[0]); };
  one_ = std::make_unique<Jit>(both);
  many_ = std::make_unique<Jit>([both](const Tensors& x) { return vmap_of(both, x, {0}); });
  const Function gradient = [value](const Tensors& x) -> Tensors {
    return {value_and_gradient(value, x[0])[1]};
  };
  const Function row = [gradient](const Tensors& x) { return jvp(gradient, {x[0]}, {x[1]}).second; };
  rows_ = std::make_unique<Jit>([row](const Tensors& x) { return vmap_of(row, x, {-1, 0}); });
}

Evaluated LogDensity::at(std::vector<double> point) const {
  const Tensors found = (*one_)({tensor(point, {size()}, device_)});
  return {std::move(point), found[0].item<double>(), found[1].to_vector<double>()};
}

// Blocks of one size, so that one kernel does for them; the last one begins earlier for it.
void LogDensity::at_many(const std::vector<double>& points, std::vector<double>& values,
                         std::vector<double>& gradients) const {
  const int64_t count = std::ssize(points) / size(), block = std::min(count, points_at_once);
  values.resize(static_cast<size_t>(count));
  gradients.resize(points.size());
  for (int64_t next = 0; next < count; next += block) {
    const int64_t first = std::min(next, count - block);
    const std::span part(points.data() + first * size(), static_cast<size_t>(block * size()));
    const Tensors found = (*many_)({tensor(part, {block, size()}, device_)});
    const auto value = found[0].to_vector<double>(), gradient = found[1].to_vector<double>();
    std::copy(value.begin(), value.end(), values.begin() + first);
    std::copy(gradient.begin(), gradient.end(), gradients.begin() + first * size());
  }
}

std::vector<double> LogDensity::exact_hessian(const std::vector<double>& point) const {
  const int64_t d = size(), block = std::min(d, points_at_once);
  std::vector<double> hessian(static_cast<size_t>(d * d));
  const Tensor u = tensor(point, {d}, device_);
  for (int64_t next = 0; next < d; next += block) {
    const int64_t first = std::min(next, d - block);
    std::vector<double> directions(static_cast<size_t>(block * d));
    for (int64_t i = 0; i < block; ++i) directions[static_cast<size_t>(i * d + first + i)] = 1;
    const auto rows = (*rows_)({u, tensor(directions, {block, d}, device_)})[0].to_vector<double>();
    std::copy(rows.begin(), rows.end(), hessian.begin() + first * d);
  }
  return hessian;
}

std::vector<double> LogDensity::hessian_by_differences(const std::vector<double>& point) const {
  const auto d = static_cast<size_t>(size());
  const double relative = std::cbrt(std::numeric_limits<double>::epsilon());
  std::vector<double> points, values, gradients, widths;
  for (size_t i = 0; i < d; ++i) {
    const double h = relative * std::max(1.0, std::abs(point[i]));
    for (const double sign : {1.0, -1.0}) {
      points.insert(points.end(), point.begin(), point.end());
      points[points.size() - d + i] += sign * h;
    }
    widths.push_back(points[points.size() - 2 * d + i] - points[points.size() - d + i]);
  }
  at_many(points, values, gradients);
  std::vector<double> hessian(d * d);
  for (size_t i = 0; i < d; ++i)
    for (size_t j = 0; j < d; ++j)
      hessian[i * d + j] = (gradients[2 * i * d + j] - gradients[(2 * i + 1) * d + j]) / widths[i];
  return hessian;
}

std::vector<double> LogDensity::hessian(const std::vector<double>& point) const {
  std::vector<double> found;
  try {
    found = exact_hessian(point);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported && error.kind() != ErrorKind::bad_argument) throw;
  }
  if (found.empty() || !all_finite(found)) found = hessian_by_differences(point);
  const auto d = static_cast<size_t>(size());
  for (size_t i = 0; i < d; ++i)
    for (size_t j = 0; j < i; ++j)
      found[i * d + j] = found[j * d + i] = (found[i * d + j] + found[j * d + i]) / 2;
  return found;
}

std::string LogDensity::odd_terms(const std::vector<double>& point) const {
  Tensors totals;
  std::vector<std::string> names;
  for (const stats::ModelTerm& term : model_.terms) {
    if (!counts(term)) continue;
    totals.push_back(term.total);
    names.push_back(term.name);
  }
  const Tensors found = stats::density_at_point(model_, totals, tensor(point, {size()}, device_));
  eval(found);
  std::string words;
  for (size_t i = 0; i < names.size(); ++i)
    if (const double value = found[i].item<double>(); !std::isfinite(value))
      words += fmt::format("{}{} is {}", words.empty() ? "" : ", ", names[i], value);
  return words;
}

}  // namespace adit::optimizing
