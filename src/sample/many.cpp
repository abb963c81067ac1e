// Many data sets of one model in one run: chains of all of them share the dispatches.
#include <fmt/format.h>

#include <adit/ops.hpp>
#include <adit/sample.hpp>

#include "sample/session.hpp"

namespace adit {

namespace {

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorKind::bad_argument, "[sample_many] " + message);
}

int64_t count_of(const std::map<std::string, Tensor>& stacked) {
  if (stacked.empty()) fail("stacked: expected data by name, got none");
  int64_t count = -1;
  for (const auto& [name, values] : stacked) {
    if (!values || values.rank() == 0 || values.dim(0) == 0)
      fail(fmt::format("{}: expected a tensor whose first axis counts the data sets, got {}", name,
                       values ? to_string(values.shape()) : "none"));
    if (count >= 0 && values.dim(0) != count)
      fail(fmt::format("{}: expected {} data sets, as the others have, got {}", name, count, values.dim(0)));
    count = values.dim(0);
  }
  return count;
}

// One of those along the first axis.
Tensor part_of(const Tensor& stacked, int64_t set) {
  Dims starts = Dims::filled(stacked.rank(), 0), lengths = stacked.shape();
  starts[0] = set;
  lengths[0] = 1;
  Shape shape;
  for (int axis = 1; axis < stacked.rank(); ++axis) shape.push_back(stacked.dim(axis));
  return reshape(slice(stacked, starts, lengths), shape);
}

}  // namespace

std::vector<Draws> sample_many(const Model& model, const std::map<std::string, Tensor>& stacked,
                               const SampleOptions& options) {
  const int64_t count = count_of(stacked);
  if (options.chains > 0 && count > (int64_t{1} << 24) / options.chains)
    fail(fmt::format("stacked: expected at most 2^24 chains in all, got {} data sets of {}", count,
                     options.chains));
  if (options.first_chain != 0)
    fail(fmt::format("first_chain: expected 0, since chains are counted over the data sets, got {}",
                     options.first_chain));
  // A model for each, which checks its data against shapes and supports.
  std::vector<Model> models;
  std::vector<sampling::DataSet> sets(static_cast<size_t>(count));
  for (int64_t set = 0; set < count; ++set) {
    Model& own = models.emplace_back(model.name());
    stats::state_of(own) = stats::state_of(model);
    for (const auto& [name, values] : stacked) {
      const Tensor part = part_of(values, set);
      try {
        own.set_data(name, part);
      } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("[sample_many] data set {}: {}", set + 1, error.what()));
      }
      sets[static_cast<size_t>(set)][name] = part;
    }
  }
  sampling::Session session(stats::state_of(models[0]), options, sets);
  session.run();
  std::vector<Draws> results;
  for (int64_t set = 0; set < count; ++set)
    results.push_back(session.draws_of(stats::state_of(models[static_cast<size_t>(set)]), set));
  return results;
}

}  // namespace adit
