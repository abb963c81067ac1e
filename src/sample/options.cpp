#include "sample/options.hpp"

#include <cmath>
#include <fmt/format.h>

namespace adit::sampling {

namespace {

[[noreturn]] void fail(const char* option, const std::string& message) {
  throw Error(ErrorKind::bad_argument, fmt::format("[sample] {}: {}", option, message));
}

void at_least(const char* option, int64_t value, int64_t least) {
  if (value < least) fail(option, fmt::format("expected at least {}, got {}", least, value));
}

void positive(const char* option, double value) {
  if (!(value > 0) || !std::isfinite(value))
    fail(option, fmt::format("expected a positive number, got {}", value));
}

void check_init(const stats::ModelState& model, const SampleOptions& options) {
  for (const auto& values : options.init)
    for (const auto& [name, numbers] : values) {
      std::string names;
      const stats::ModelVariable* found = nullptr;
      for (const auto& variable : model.variables) {
        if (variable.name == name) found = &variable;
        names += (names.empty() ? "" : ", ") + variable.name;
      }
      if (!found) fail("init", fmt::format("expected variables among {}, got \"{}\"", names, name));
      if (std::ssize(numbers) != element_count(found->shape))
        fail("init", fmt::format("expected {} numbers for {}, of shape {}, got {}",
                                 element_count(found->shape), name, to_string(found->shape), numbers.size()));
    }
}

}  // namespace

void check_options(const stats::ModelState& model, const SampleOptions& options) {
  if (model.size == 0)
    fail("model", fmt::format("expected at least one variable, got none in {}", model.name));
  at_least("chains", options.chains, 1);
  if (options.chains > (int64_t{1} << 24))
    fail("chains", fmt::format("expected at most 2^24, got {}", options.chains));
  at_least("first_chain", options.first_chain, 0);
  if (options.first_chain > (int64_t{1} << 31) - options.chains)
    fail("first_chain", fmt::format("expected at most 2^31 less the chains, got {}", options.first_chain));
  at_least("warmup", options.warmup, 0);
  at_least("draws", options.draws, 1);
  at_least("thin", options.thin, 1);
  constexpr int64_t most = int64_t{1} << 30;  // each by itself first: their sum may pass 64 bits
  if (options.warmup > most) fail("warmup", fmt::format("expected at most 2^30, got {}", options.warmup));
  if (options.draws > most / options.thin || options.warmup + options.draws * options.thin > most)
    fail("draws", fmt::format("expected at most 2^30 iterations with those of warm-up, got {} times thin {}",
                              options.draws, options.thin));
  if (!(options.adapt_delta > 0 && options.adapt_delta < 1))
    fail("adapt_delta", fmt::format("expected a number between 0 and 1, got {}", options.adapt_delta));
  positive("step_size", options.step_size);
  positive("gamma", options.gamma);
  positive("kappa", options.kappa);
  positive("t0", options.t0);
  if (options.max_depth < 1 || options.max_depth > 20)
    fail("max_depth", fmt::format("expected 1 to 20, got {}", options.max_depth));
  at_least("init_buffer", options.init_buffer, 0);
  at_least("term_buffer", options.term_buffer, 0);
  at_least("window", options.window, 1);
  if (!(options.init_radius >= 0) || !std::isfinite(options.init_radius))
    fail("init_radius", fmt::format("expected a number of at least 0, got {}", options.init_radius));
  const auto one_or_all = [&](const char* option, size_t count) {
    if (count > 1 && count != static_cast<size_t>(options.chains))
      fail(option, fmt::format("expected one or {}, got {}", options.chains, count));
  };
  one_or_all("init", options.init.size());
  check_init(model, options);
  one_or_all("warm_start.step_sizes", options.warm_start.step_sizes.size());
  one_or_all("warm_start.inverse_metrics", options.warm_start.inverse_metrics.size());
  for (const double step : options.warm_start.step_sizes) positive("warm_start.step_sizes", step);
  const int64_t numbers = options.metric == Metric::dense ? model.size * model.size : model.size;
  for (const auto& metric : options.warm_start.inverse_metrics)
    if (std::ssize(metric) != numbers)
      fail("warm_start.inverse_metrics", fmt::format("expected {} numbers, got {}", numbers, metric.size()));
  if (options.resume && options.checkpoint.empty())
    fail("resume", "expected the path of a checkpoint, got none");
}

}  // namespace adit::sampling
