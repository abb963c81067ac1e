#include "sample/so_far.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>

#include <adit/checkpoint.hpp>

#include "density/digest.hpp"
#include "sample/checkpoint_format.hpp"
#include "sample/collect.hpp"
#include "sample/journal.hpp"
#include "sample/layout_text.hpp"
#include "sample/predictive.hpp"
#include "support/json.hpp"

namespace adit::sampling {

namespace {

using Json = nlohmann::json;

void check_model(const CheckpointHeader& header, const std::string& path, const stats::ModelState& model,
                 const Density& density) {
  const auto refuse = [&](const std::string& expected, const std::string& got) {
    throw Error(ErrorKind::io, fmt::format("[draws_so_far] {}: expected {}, got {}", path, expected, got));
  };
  const Json layout = parse_json<Json>(header.layout);
  if (!layout.is_object() || !layout.contains("variables")) refuse("a run of the sampler", "another file");
  if (layout["variables"] != Json(variables_of(model)) ||
      header.dimensions != static_cast<uint64_t>(model.size))
    refuse(fmt::format("the variables of {} as they are now", model.name), "others");
  if (layout.value("density", "") != digest_of(density))
    refuse(fmt::format("the log density of {} as it is now", model.name), "another");
  const auto stats =
      static_cast<uint64_t>(density.value.dtype() == density.type ? stats_count : stats_count + 1);
  if (header.stats != stats)
    refuse(fmt::format("{} numbers of the sampler a row", stats), std::to_string(header.stats));
}

// Rows `first` to `first + count` of every chain.
std::vector<double> rows_between(const CheckpointContents& contents, uint64_t first, uint64_t count) {
  const auto all = [&](uint64_t number) { return std::vector<uint64_t>(contents.header.chains, number); };
  return contents.header.numbers(rows_of(contents, all(first), all(count)));
}

int64_t warmup_rows(const Json& options) {
  const int64_t warmup = options.at("warmup"), thin = options.at("thin");
  return options.at("save_warmup").get<bool>() ? (warmup + thin - 1) / thin : 0;
}

// Rows of warm-up lie before those of draws; what all chains have counts.
int64_t draws_after(const CheckpointContents& contents, int64_t warm) {
  const std::vector<uint64_t> counts = count_rows(contents);
  const int64_t fewest =
      counts.empty() ? 0 : static_cast<int64_t>(*std::min_element(counts.begin(), counts.end()));
  return std::max<int64_t>(0, fewest - warm);
}

void describe(const CheckpointHeader& header, const stats::ModelState& model, Draws& draws) {
  const Json options = parse_json<Json>(header.options);
  draws.model = model.name;
  draws.chains = static_cast<int64_t>(header.chains);
  draws.warmup = options.at("warmup");
  draws.thin = options.at("thin");
  draws.max_depth = options.at("max_depth");
  draws.seed = options.at("seed");
  draws.adapt_delta = options.at("adapt_delta");
  draws.device = options.at("device");
  draws.precision = options.at("precision");
  draws.metric = name_of(static_cast<Metric>(options.at("metric").get<int>()));
  draws.inits = fmt::format("{}", options.at("init_radius").get<double>());
  draws.coordinates = coordinates_of(model);
  draws.finished = false;
}

}  // namespace

Draws draws_so_far(const CheckpointContents& contents, const std::string& path,
                   const stats::ModelState& model, const std::shared_ptr<Device>& device) try {
  const CheckpointHeader& header = contents.header;
  const int64_t loop_numbers = layout_wish(layout_of(header)).forced.loop_numbers;
  const Json settings = parse_json<Json>(header.options);
  const auto wide = static_cast<Wide>(std::clamp(settings.value("wide", 0), 0, 2));
  const Density density = make_density(model, {header.is_f32 ? DType::f32 : DType::f64, wide},
                                       loop_numbers > 0 ? loop_numbers : lower::any_loop_numbers,
                                       settings.at("device") == "cpu");  // the run's, not this one
  check_model(header, path, model, density);
  Draws draws;
  describe(header, model, draws);
  const int64_t warm = warmup_rows(settings), first_chain = settings.at("first_chain");
  const double constant = stats::at_point(model, {density.constant}, {})[0].item<double>();
  draws.draws = draws_after(contents, warm);
  if (draws.draws == 0) return draws;
  const auto collect = [&](int64_t first, int64_t count, uint64_t seed, auto& variables, auto& stats) {
    const std::vector<double> points = collect_draws(
        model, rows_between(contents, static_cast<uint64_t>(first), static_cast<uint64_t>(count)),
        static_cast<int64_t>(header.stats), constant, device, variables, stats);
    try {
      add_generated(model, points, first_chain, draws.chains, seed, device, variables);
    } catch (const Error& error) {  // the draws themselves are there
      draws.notes.push_back(fmt::format("generated quantities are left out: {}", error.what()));
    }
  };
  collect(warm, draws.draws, draws.seed, draws.variables, draws.stats);
  if (warm > 0) {
    draws.warmup_draws = warm;
    collect(0, warm, draws.seed ^ 1, draws.warmup_variables, draws.warmup_stats);
  }
  draws.observed = observed_of(model);
  for (int64_t chain = 0; chain < draws.chains; ++chain)
    draws.step_sizes.push_back(draws.stats.step_size[static_cast<size_t>((chain + 1) * draws.draws - 1)]);
  for (const double count : draws.stats.n_leapfrog) draws.leapfrogs += static_cast<uint64_t>(count);
  return draws;
} catch (const Json::exception&) {
  throw Error(ErrorKind::io, fmt::format("[draws_so_far] {}: expected the options of a run, got {}", path,
                                         contents.header.options));
}

}  // namespace adit::sampling

namespace adit {

bool is_checkpoint(const std::string& path) {
  std::string head(checkpoint::magic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(head.data(), static_cast<std::streamsize>(head.size())) && head == checkpoint::magic;
}

std::string model_of_checkpoint(const std::string& path) {
  const auto layout = parse_json(read_checkpoint(path).header.layout);
  return layout.is_object() ? layout.value("model", "") : "";
}

Draws draws_so_far(const std::string& path, const Model& model, const std::shared_ptr<Device>& device) {
  return sampling::draws_so_far(read_checkpoint(path), path, stats::state_of(model), device);
}

std::string origin_of_checkpoint(const std::string& path) {
  const auto options = parse_json(read_checkpoint(path).header.options);
  return options.is_object() ? options.value("origin", "") : "";
}

std::optional<int64_t> draws_in_checkpoint(const std::string& path) try {
  const CheckpointContents contents = read_checkpoint(path);
  if (!contents.state) return {};
  return sampling::draws_after(contents, sampling::warmup_rows(parse_json(contents.header.options)));
} catch (const std::exception&) {  // no file, or none of ours
  return {};
}

}  // namespace adit
