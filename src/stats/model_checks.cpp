#include "stats/model_checks.hpp"

#include <cmath>
#include <fmt/format.h>

#include "graph/row.hpp"
#include "stats/known.hpp"

namespace adit::stats {

using graph::fail;

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A word; members of tuples have numbers behind it, as CmdStan writes them: p:1, pairs.2:1.
bool is_identifier(const std::string& full_name) {
  const size_t end = std::min(full_name.size(), full_name.find_first_of(":."));
  const std::string name = full_name.substr(0, end);
  if (name.empty() || !is_letter(name[0]) || name.ends_with("__")) return false;
  for (const char c : name)
    if (!is_letter(c) && !is_digit(c) && c != '_') return false;
  for (size_t i = end; i < full_name.size(); ++i) {
    const bool is_mark = full_name[i] == ':' || full_name[i] == '.';
    if (is_mark ? i + 1 == full_name.size() || !is_digit(full_name[i + 1]) : !is_digit(full_name[i]))
      return false;
  }
  const size_t last = full_name.find_last_of(":.");  // of an array of tuples the members have names
  return last == std::string::npos || full_name[last] == ':';
}

// What already has a name, in words.
std::string_view owner_of(const ModelState& state, const std::string& name) {
  const auto in = [&](const auto& list) {
    for (const auto& x : list)
      if (x.name == name) return true;
    return false;
  };
  if (in(state.variables)) return "a variable";
  if (in(state.observations)) return "an observation";
  if (in(state.deterministics)) return "a deterministic value";
  if (in(state.data)) return "data";
  if (state.plates.contains(name)) return "a plate";
  if (in(state.terms)) return "a term";
  return {};
}

std::string value_words(std::span<const double> event) {
  if (event.size() == 1) return fmt::format("{:.10g}", event[0]);
  std::string words = "[";
  for (size_t i = 0; i < event.size() && i < 8; ++i)
    words += fmt::format("{}{:.10g}", i ? ", " : "", event[i]);
  return words + (event.size() > 8 ? ", ...]" : "]");
}

}  // namespace

void expect_name(const ModelState& state, std::string_view where, const std::string& name) {
  if (!is_identifier(name))
    fail(where, "name",
         fmt::format(
             "expected letters, digits and underscores, a letter first and no \"__\" at the end, got \"{}\"",
             name));
  if (const auto owner = owner_of(state, name); !owner.empty())
    fail(where, "name", fmt::format("expected a new name, got \"{}\", which {} has", name, owner));
}

Needs needs_of(const ModelState& state, const Tensor& x) {
  Needs needs;
  for (const Tensor& node : graph::reachable(std::span(&x, 1), false)) {
    if (!graph::is_placeholder(node)) continue;
    for (const auto& d : state.data)
      needs.data = needs.data || graph::pointer_of(d.placeholder) == graph::pointer_of(node);
    for (const auto& v : state.variables)
      if (needs.variable.empty() && graph::pointer_of(v.unconstrained) == graph::pointer_of(node))
        needs.variable = v.name;
  }
  return needs;
}

void expect_tensor(const ModelState& state, std::string_view where, std::string_view argument,
                   const Tensor& x) {
  if (!x) fail(where, argument, "expected a tensor, got none");
  if (is_complex(x.dtype()))
    fail(where, argument, fmt::format("expected real numbers, got {}", name_of(x.dtype())));
  for (const Tensor& node : graph::reachable(std::span(&x, 1), false)) {
    if (!graph::is_placeholder(node)) continue;
    bool known = false;
    for (const auto& d : state.data)
      known = known || graph::pointer_of(d.placeholder) == graph::pointer_of(node);
    for (const auto& v : state.variables)
      known = known || graph::pointer_of(v.unconstrained) == graph::pointer_of(node);
    if (!known) fail(where, argument, "expected tensors of this model, got one of another model or function");
  }
}

void expect_density(std::string_view where, const Distribution& distribution, const Tensor& density,
                    const Shape& x) {
  const Shape expected = without_last(x, distribution.event.size());
  if (density.shape() == expected) return;
  fail(where, distribution.name,
       fmt::format("expected a log density of shape {}, one number an event, got {}", to_string(expected),
                   to_string(density.shape())));
}

std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b) {
  const int rank = std::max(a.size(), b.size());
  Shape shape = Dims::filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const int64_t left = i <= a.size() ? a[a.size() - i] : 1, right = i <= b.size() ? b[b.size() - i] : 1;
    if (left != right && left != 1 && right != 1) return std::nullopt;
    shape[rank - i] = left == 1 ? right : left;
  }
  return shape;
}

Shape end_to_end(const Shape& front, const Shape& back) {
  Shape shape = front;
  for (const int64_t extent : back) shape.push_back(extent);
  return shape;
}

Shape without_last(const Shape& shape, int count) {
  return Shape(
      std::span<const int64_t>(shape.begin(), static_cast<size_t>(std::max(0, shape.size() - count))));
}

void expect_distribution(std::string_view where, std::string_view argument, const Distribution& x) {
  if (!x.log_density) fail(where, argument, "expected a distribution, got none");
}

void expect_constraint(std::string_view where, const Constraint& x) {
  if (!x.unconstrained_shape || !x.constrain || !x.unconstrain)
    fail(where, "constraint", "expected a constraint, got none");
}

void expect_shape(std::string_view where, std::string_view argument, const Tensor& x, const Shape& shape) {
  if (!x) fail(where, argument, "expected a tensor, got none");
  if (!(x.shape() == shape))
    fail(where, argument, fmt::format("expected shape {}, got {}", to_string(shape), to_string(x.shape())));
}

void expect_observed(std::string_view where, const Distribution& likelihood, const Shape& value) {
  const Shape& event = likelihood.event;
  const Shape lead = without_last(value, event.size());
  if (end_to_end(lead, event) == value && broadcast_shapes(lead, likelihood.batch) == lead) return;
  fail(where, "value",
       fmt::format("expected shape {}, got {}", to_string(end_to_end(likelihood.batch, event)),
                   to_string(value)));
}

void check_parameters(const ModelState& state, const ModelTerm& term) {
  Tensors values;
  std::vector<const NamedParameter*> known;
  for (const NamedParameter& each : term.parameters) {
    if (!each.domain || !needs_of(state, each.value).variable.empty()) continue;
    known.push_back(&each);
    values.push_back(each.value);
  }
  if (known.empty()) return;
  const Tensors now = at_point(state, values, {});
  eval(now);
  for (size_t i = 0; i < now.size(); ++i)
    if (const auto words = outside_words(*known[i], now[i].to_vector<double>()))
      fail(term.stated, fmt::format("{} of {}", known[i]->name, term.distribution), *words);
}

void check_support(const ModelState& state, const ModelObservation& observation) {
  const std::string where = "observe " + observation.name;
  const Constraint& support = observation.likelihood.support;
  const Tensor inside = support.contains(observation.value);
  const bool known = needs_of(state, inside).variable.empty();
  const Tensors now =
      at_point(state, known ? Tensors{observation.value, inside} : Tensors{observation.value}, {});
  const auto values = now[0].to_vector<double>();
  for (size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      fail(where, "value",
           fmt::format("expected finite numbers, got {:g}{}", values[i],
                       place_words(observation.shape, static_cast<int64_t>(i))));
  if (!known) return;
  const auto mask = now[1].to_vector<uint8_t>();
  const size_t event = mask.empty() ? 1 : values.size() / mask.size();
  for (size_t i = 0; i < mask.size(); ++i)
    if (!mask[i])
      fail(where, "value",
           fmt::format("expected {}, got {}{}", support.expected.empty() ? support.name : support.expected,
                       value_words(std::span(values).subspan(i * event, event)),
                       place_words(now[1].shape(), static_cast<int64_t>(i))));
}

bool checks_data(const ModelObservation& observation, const Tensor& placeholder) {
  const Tensors looked_at{observation.value, observation.likelihood.support.contains(observation.value)};
  for (const Tensor& x : graph::reachable(looked_at, false))
    if (graph::pointer_of(x) == graph::pointer_of(placeholder)) return true;
  return false;
}

bool checks_data(const ModelTerm& term, const Tensor& placeholder) {
  Tensors looked_at;
  for (const NamedParameter& each : term.parameters) looked_at.push_back(each.value);
  for (const Tensor& x : graph::reachable(looked_at, false))
    if (graph::pointer_of(x) == graph::pointer_of(placeholder)) return true;
  return false;
}

}  // namespace adit::stats
