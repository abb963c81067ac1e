#include "sample/memory.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

#include "nuts/layout.hpp"
#include "sample/collect.hpp"
#include "sample/run.hpp"
#include "support/machine.hpp"

namespace adit {
namespace {

// Fitted to the peaks of eight schools and radon on a CPU with two threads, with and without what can be
// asked for beside the draws: 1.04 to 1.3 times what they took. Many threads and a GPU's driver take 100 MB
// more.
constexpr double beside = 190e6;      // compilers, drivers, threads
constexpr double unevenness = 1.1;    // what allocators lose
constexpr double while_saving = 3.5;  // the draws, their file in memory, and once more as it is written
constexpr double copies_collected = 2, copies_computed = 6;  // of a block: tensors between points and values

// The address space that is in use; 0 where the system does not tell.
double address_space() {
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

double memory_left() {
  auto left = static_cast<double>(machine::memory_bytes());
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    left = std::min(left, std::max(0.0, static_cast<double>(limit.rlim_cur) - address_space()));
  return left;
}

SampleMemory memory_of(const Model& model, const SampleOptions& options) {
  return sampling::memory_of(stats::state_of(model), options, 1);
}

namespace sampling {
namespace {

std::string gigabytes(double bytes) { return fmt::format("{:.1f} GB", bytes / 1e9); }

double elements_of_draws(const stats::ModelState& model) {
  int64_t count = stats_count;
  for (const auto& variable : model.variables) count += element_count(variable.shape);
  for (const auto& deterministic : model.deterministics) count += element_count(deterministic.shape);
  for (const auto& generated : model.generated) count += element_count(generated.shape);
  return static_cast<double>(count);
}

}  // namespace

SampleMemory memory_of(const stats::ModelState& model, const SampleOptions& options, int64_t sets) {
  const double number = sizeof(double), chains = static_cast<double>(options.chains * sets);
  const double warmup = options.save_warmup ? static_cast<double>(options.warmup / options.thin + 1) : 0;
  const double draws = chains * static_cast<double>(options.draws), rows = draws + chains * warmup;
  const double row = static_cast<double>(model.size + stats_count) * number;
  const double kept = std::max(static_cast<double>(most_row_bytes), fewest_rows * chains * row);
  const double ring = std::min(kept, rows * row);
  const double values = rows * elements_of_draws(model) * number;
  const auto block = [&](double copies, double width, double most) {
    return copies * number * std::min({static_cast<double>(numbers_at_once), draws * width, most * width});
  };
  SampleMemory memory;
  double width = static_cast<double>(model.size);
  for (const auto& observation : model.observations) {
    const auto elements = static_cast<double>(element_count(observation.shape));
    width += elements;
    if (options.log_likelihood)
      memory.log_likelihood +=
          draws * static_cast<double>(model.terms[observation.term].pointwise.size()) * number;
    if (options.posterior_predictive) memory.posterior_predictive += draws * elements * number;
  }
  const double extras = memory.log_likelihood + memory.posterior_predictive;
  const double collected =
      block(copies_collected, elements_of_draws(model), static_cast<double>(points_at_once));
  const double computed = extras > 0 ? block(copies_computed, width, draws) : 0;
  memory.sampling = beside + std::max(collected, computed) +
                    unevenness * (ring + rows * row + std::max(rows * row, values + extras));
  memory.saving = beside + unevenness * ring + while_saving * (values + extras);
  return memory;
}

void check_memory(const stats::ModelState& model, const SampleOptions& options, int64_t sets) {
  const SampleMemory needed = memory_of(model, options, sets);
  const double left = memory_left();
  if (needed.sampling <= left) return;
  throw Error(
      ErrorKind::bad_argument,
      fmt::format("[sample] draws: expected a run that fits into {} of memory, got {} draws of {} chains, "
                  "which take {}, {} of it for log_likelihood and {} for posterior_predictive",
                  gigabytes(left), options.draws, options.chains * sets, gigabytes(needed.sampling),
                  gigabytes(needed.log_likelihood), gigabytes(needed.posterior_predictive)));
}

void throw_out_of_memory(const SampleOptions& options, const std::string& why, bool kept) {
  std::string text = fmt::format("[sample] memory: expected enough for {} draws of {} chains, got no more{}",
                                 options.draws, options.chains, why.empty() ? "" : ": " + why);
  if (kept)
    text += fmt::format("; what was drawn is kept in {}: resume goes on from there{}", options.checkpoint,
                        options.log_likelihood || options.posterior_predictive
                            ? ", without log_likelihood and posterior_predictive if they do not fit"
                            : "");
  throw Error(ErrorKind::out_of_memory, text);
}

}  // namespace sampling
}  // namespace adit
