#include "sample/failure.hpp"

#include <cmath>
#include <fmt/format.h>

#include <adit/ops.hpp>

#include "sample/outside.hpp"

namespace adit::sampling {

namespace {

// The terms that are not finite at a point.
std::string bad_terms(const stats::ModelState& model, const Tensor& u) {
  Tensors totals;
  for (const auto& term : model.terms) totals.push_back(term.total);
  const Tensors values = stats::at_point(model, totals, u);
  std::string list;
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = values[i].item<double>();
    if (std::isfinite(value)) continue;
    list += fmt::format("{}{} is {}", list.empty() ? "" : ", ", model.terms[i].name,
                        std::isnan(value) ? "NaN"
                        : value > 0       ? "infinite"
                                          : "-infinity");
    const auto& term = model.terms[i];
    const std::string words = term.parameters.empty() ? "" : outside_words(model, term, u);
    if (!words.empty()) list += fmt::format(" ({})", words);
  }
  return list;
}

}  // namespace

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
          once ? "the only attempt" : "100 attempts", terms.empty() ? "the gradient is not finite" : terms));
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
