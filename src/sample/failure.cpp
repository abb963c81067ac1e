#include "sample/failure.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <span>

#include <adit/ops.hpp>
#include <adit/transform.hpp>

#include "sample/outside.hpp"

namespace adit::sampling {

namespace {

constexpr size_t most_numbers_told = 6, most_terms_told = 8;

std::string to_words(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "infinite" : "-infinity";
  return fmt::format("{:.6g}", value);
}

std::string to_words(std::span<const double> numbers) {
  if (numbers.size() == 1) return to_words(numbers[0]);
  std::string list;
  for (size_t i = 0; i < numbers.size() && i < most_numbers_told; ++i)
    list += (i ? ", " : "") + to_words(numbers[i]);
  return fmt::format("[{}{}]", list, numbers.size() > most_numbers_told ? ", ..." : "");
}

// The first event of a term that is not finite; 0 where all are.
size_t bad_event(std::span<const double> events) {
  const auto bad = std::find_if(events.begin(), events.end(), [](double x) { return !std::isfinite(x); });
  return bad == events.end() ? 0 : static_cast<size_t>(bad - events.begin());
}

// What a statement of a program met at a point.
std::string words_at_point(const stats::ModelState& model, const stats::ModelTerm& term, const Tensor& u) {
  std::vector<std::vector<double>> values;
  for (const Tensor& value : stats::density_at_point(model, word_graphs(term), u))
    values.push_back(as_type(value, DType::f64).to_vector<double>());
  return statement_words(term, values);
}

// "line 12" of a statement of a program; else its name.
std::string words_for(const stats::ModelTerm& term) {
  const bool is_line = term.name.starts_with("line:");
  return is_line ? "line " + term.name.substr(5, term.name.find_first_of(": ", 5) - 5) : term.name;
}

std::string term_words(const stats::ModelState& model, const stats::ModelTerm& term, double value,
                       const Tensor& u) {
  std::string words = fmt::format("{} is {}", words_for(term), to_words(value));
  if (!term.witnesses.empty() || term.rejects)
    words += (term.rejects ? ", which rejects" : "") + words_at_point(model, term, u);
  const std::string reason = reason_words(model, term, u);
  return reason.empty() ? words : fmt::format("{} ({})", words, reason);
}

// The terms that are not finite at a point.
std::string bad_terms(const stats::ModelState& model, const Tensor& u) {
  Tensors totals;
  for (const auto& term : model.terms) totals.push_back(term.total);
  const Tensors values = stats::density_at_point(model, totals, u);
  std::string list;
  size_t count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = values[i].item<double>();
    if (std::isfinite(value)) continue;
    if (++count <= most_terms_told)
      list += (list.empty() ? "" : "; ") + term_words(model, model.terms[i], value, u);
  }
  return count > most_terms_told ? fmt::format("{}; and {} more", list, count - most_terms_told) : list;
}

// The first term whose slope is not finite where its value is.
std::string bad_slope(const stats::ModelState& model, const Tensor& u) {
  constexpr size_t most_tried = 200;
  for (size_t i = 0; i < model.terms.size() && i < most_tried; ++i) {
    const stats::ModelTerm& term = model.terms[i];
    const auto total = [&](const Tensor& x) { return stats::density_at_point(model, {term.total}, x)[0]; };
    const auto slopes = grad(total)(u).to_vector<double>();
    if (std::all_of(slopes.begin(), slopes.end(), [](double x) { return std::isfinite(x); })) continue;
    return fmt::format("the gradient is not finite, that of {}{}", words_for(term),
                       term.witnesses.empty() ? "" : words_at_point(model, term, u));
  }
  return "the gradient is not finite";
}

}  // namespace

Tensors word_graphs(const stats::ModelTerm& term) {
  Tensors graphs{term.pointwise};
  for (const auto& witness : term.witnesses)
    if (witness.value) graphs.push_back(witness.value);
  return graphs;
}

std::string statement_words(const stats::ModelTerm& term, const std::vector<std::vector<double>>& values) {
  const std::vector<double>& events = values[0];
  const size_t event = bad_event(events);
  std::string used, rounds, spoken;
  size_t next = 1;
  for (const auto& witness : term.witnesses) {
    if (!witness.value) {
      spoken += witness.name;
      continue;
    }
    const std::vector<double>& numbers = values[next++];
    const size_t each = witness.by_event ? numbers.size() / events.size() : numbers.size();
    const auto own = std::span(numbers).subspan(witness.by_event ? event * each : 0, each);
    if (term.rejects && !witness.is_round) {
      spoken += to_words(own);
      continue;
    }
    // Of a list that stands beside a list of events the one of this event.
    const bool is_beside = !witness.by_event && events.size() > 1 && each == events.size();
    std::string& list = witness.is_round ? rounds : used;
    list += fmt::format("{}{}{} = {}", list.empty() ? "" : ", ", witness.name,
                        is_beside ? fmt::format("[{}]", event + 1) : "",
                        is_beside ? to_words(own[event]) : to_words(own));
  }
  if (term.rejects) return fmt::format("{}: {}", rounds.empty() ? "" : " at " + rounds, spoken);
  const std::string where = rounds + (rounds.empty() || used.empty() ? "" : ", ") + used;
  return fmt::format(" in `{}`{}", term.stated, where.empty() ? "" : ", where " + where);
}

void throw_bad_constant(const stats::ModelState& model) {
  std::vector<double> zero(static_cast<size_t>(model.size), 0);
  const std::string terms = bad_terms(model, tensor(zero));
  throw Error(ErrorKind::bad_argument,
              fmt::format("[sample {}] data: expected a finite log density, but {}", model.name,
                          terms.empty() ? "what the data alone decide is not finite" : terms));
}

void throw_failure(Failure failure, const stats::ModelState& model, const std::vector<double>& point,
                   int64_t chain, const SampleOptions& options) {
  const auto fail = [&](const std::string& text) {
    const int64_t set = chain / options.chains;
    throw Error(ErrorKind::bad_argument, fmt::format("[sample {}] {}chain {}: {}", model.name,
                                                     set > 0 ? fmt::format("data set {}, ", set + 1) : "",
                                                     chain % options.chains + 1, text));
  };
  switch (failure) {
    case Failure::no_start: {
      const std::string terms = bad_terms(model, tensor(point));
      const bool once = !options.init.empty() || options.init_radius == 0;
      fail(fmt::format(
          "expected a start point with a finite log density and gradient, found none in {}; at the last one "
          "{}",
          once ? "the only attempt" : "100 attempts",
          terms.empty() ? bad_slope(model, tensor(point)) : terms));
    } break;
    case Failure::improper:
      fail("the step size grew beyond 1e7: the posterior is improper; give every variable a proper prior");
      break;
    case Failure::no_step:
      fail(
          "no acceptably small step size was found: the log density may not be smooth, or its gradient is "
          "wrong");
      break;
    case Failure::bad_metric:
      fail("the estimated metric is not finite: the posterior may be improper");
      break;
    case Failure::none: break;
  }
  throw Error(ErrorKind::internal, "[sample] failure: expected a reason, got none");
}

}  // namespace adit::sampling
