// Where chains start: the caller's values on the unconstrained scale, and an earlier run's metric.
#include <cmath>
#include <fmt/format.h>

#include <adit/ops.hpp>

#include "nuts/random.hpp"
#include "sample/collect.hpp"
#include "sample/options.hpp"

namespace adit::sampling {

namespace {

using Values = std::map<std::string, std::vector<double>>;

constexpr uint32_t most_attempts = 100;  // as the kernel makes, where it draws the whole point

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorKind::bad_argument, "[sample] init: " + message);
}

std::string words_of(std::span<const double> numbers) {
  std::string words;
  for (size_t i = 0; i < numbers.size() && i < 8; ++i)
    words += fmt::format("{}{:g}", i ? ", " : "", numbers[i]);
  return numbers.size() > 8 ? words + ", ..." : words;
}

// A variable's values to the point. Bounds may follow from variables before it, which the point has already.
void put(const stats::ModelState& model, const stats::ModelVariable& variable,
         const std::vector<double>& numbers, std::vector<double>& point) {
  const Tensor x = tensor(numbers, variable.shape);
  const Constraint& constraint = variable.constraint;
  Tensors graphs{constraint.unconstrain(x)};
  if (constraint.contains) graphs.push_back(constraint.contains(x));
  const Tensors now = stats::at_point(model, graphs, tensor(point));
  eval(now);
  const auto refuse = [&](std::span<const double> got, const char* also) {
    fail(fmt::format("expected {} for {}{}, got {}",
                     constraint.expected.empty() ? constraint.name : constraint.expected, variable.name, also,
                     words_of(got)));
  };
  if (now.size() > 1) {
    const auto inside = now[1].to_vector<uint8_t>();
    const size_t event = inside.empty() ? 1 : numbers.size() / inside.size();
    for (size_t i = 0; i < inside.size(); ++i)
      if (!inside[i]) refuse(std::span(numbers).subspan(i * event, event), "");
  }
  const auto free = as_type(now[0], DType::f64).to_vector<double>();
  for (const double number : free)
    if (!std::isfinite(number)) refuse(numbers, ", not on the bound");
  std::copy(free.begin(), free.end(), point.begin() + variable.offset);
}

// As the kernel draws it.
std::vector<double> drawn_point(int64_t size, double radius, const HostStream& stream, uint32_t attempt) {
  std::vector<double> point(static_cast<size_t>(size));
  for (uint32_t i = 0; i < point.size(); ++i)
    point[i] = std::fma(stream.uniform(stream.bits(Purpose::start, attempt, i), 0), 2 * radius, -radius);
  return point;
}

// What the caller left open is drawn.
std::vector<double> point_of(const stats::ModelState& model, const SampleOptions& options,
                             const Values& values, const HostStream& stream, uint32_t attempt) {
  std::vector<double> point = drawn_point(model.size, options.init_radius, stream, attempt);
  for (const auto& variable : model.variables)
    if (const auto at = values.find(variable.name); at != values.end())
      put(model, variable, at->second, point);
  return point;
}

bool has_density(const stats::ModelState& model, const std::vector<double>& point) {
  Tensors totals;
  for (const auto& term : model.terms) totals.push_back(term.total);
  for (const Tensor& total : stats::density_at_point(model, totals, tensor(point)))
    if (!std::isfinite(total.item<double>())) return false;
  return true;
}

std::vector<double> start_of(const stats::ModelState& model, const SampleOptions& options,
                             const Values& values, uint32_t chain, bool wide) {
  const bool complete = values.size() == model.variables.size() || options.init_radius == 0;
  const HostStream stream{options.seed, chain, wide};
  std::vector<double> point = point_of(model, options, values, stream, 0);
  for (uint32_t attempt = 1; !complete && attempt < most_attempts && !has_density(model, point); ++attempt)
    point = point_of(model, options, values, stream, attempt);
  return point;
}

const Values& init_of(const SampleOptions& options, int64_t chain) {
  return options.init[options.init.size() == 1 ? 0 : static_cast<size_t>(chain)];
}

}  // namespace

void prepare_start(Run& run, const stats::ModelState& model, const SampleOptions& options) {
  run.set_metric(options.warm_start);
  if (options.init.empty()) return;
  // Chains that share all of their values share the point.
  const bool shared = options.init.size() == 1 && options.init[0].size() == model.variables.size();
  std::vector<std::vector<double>> points;
  for (int64_t c = 0; c < (shared ? 1 : options.chains); ++c) {
    const Values& values = init_of(options, c);
    points.push_back(values.empty()
                         ? std::vector<double>()
                         : start_of(model, options, values, static_cast<uint32_t>(options.first_chain + c),
                                    run.density().type == DType::f64));
  }
  run.start_at(points);
}

std::vector<double> random_point(const stats::ModelState& model, const SampleOptions& options,
                                 int64_t chain) {
  const HostStream stream{options.seed, static_cast<uint32_t>(options.first_chain + chain), true};
  return drawn_point(model.size, options.init_radius, stream, 0);
}

std::vector<double> start_point(const stats::ModelState& model, const SampleOptions& options, int64_t chain) {
  return start_of(model, options, options.init.empty() ? Values() : init_of(options, chain),
                  static_cast<uint32_t>(options.first_chain + chain), true);
}

}  // namespace adit::sampling
