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

}  // namespace

void check_options(const stats::ModelState& model, const SampleOptions& options) {
  if (model.size == 0)
    fail("model", fmt::format("expected at least one variable, got none in {}", model.name));
  at_least("chains", options.chains, 1);
  if (options.chains > (int64_t{1} << 24))
    fail("chains", fmt::format("expected at most 2^24, got {}", options.chains));
  at_least("warmup", options.warmup, 0);
  at_least("draws", options.draws, 1);
  at_least("thin", options.thin, 1);
  if (options.warmup + options.draws * options.thin > (int64_t{1} << 30))
    fail("draws", fmt::format("expected fewer than 2^30 iterations, got {}",
                              options.warmup + options.draws * options.thin));
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
  one_or_all("warm_start.step_sizes", options.warm_start.step_sizes.size());
  one_or_all("warm_start.inverse_metrics", options.warm_start.inverse_metrics.size());
}

void prepare_start(Run& run, const stats::ModelState& model, const SampleOptions& options) {
  (void)run;
  (void)model;
  (void)options;
}

}  // namespace adit::sampling
