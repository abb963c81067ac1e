#include "sample/so_far.hpp"

#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include <adit/checkpoint.hpp>

#include "density/density.hpp"
#include "sample/checkpoint_format.hpp"
#include "sample/collect.hpp"
#include "sample/journal.hpp"
#include "sample/predictive.hpp"

namespace adit::sampling {

namespace {

using Json = nlohmann::json;

void check_model(const CheckpointHeader& header, const std::string& path, const stats::ModelState& model) {
  const auto refuse = [&](const std::string& expected, const std::string& got) {
    throw Error(ErrorKind::io, fmt::format("[draws_so_far] {}: expected {}, got {}", path, expected, got));
  };
  const Json layout = Json::parse(header.layout, nullptr, false);
  if (!layout.is_object() || !layout.contains("variables")) refuse("a run of the sampler", "another file");
  if (layout["variables"] != Json(variables_of(model)) ||
      header.dimensions != static_cast<uint64_t>(model.size))
    refuse(fmt::format("the variables of {} as they are now", model.name), "others");
  if (header.stats != static_cast<uint64_t>(stats_count))
    refuse(fmt::format("{} numbers of the sampler a row", stats_count), std::to_string(header.stats));
}

// Rows of warm-up are counted first; `first` and `last` bound the iterations that are taken.
std::vector<double> rows_between(const CheckpointContents& contents, uint64_t first, uint64_t last) {
  std::vector<double> all;
  std::vector<std::vector<double>> blocks;
  for (const CheckpointRows& block : contents.rows) blocks.push_back(block.numbers(contents.header));
  const uint64_t width = contents.header.row_elements();
  for (uint64_t chain = 0; chain < contents.header.chains; ++chain)
    for (size_t i = 0; i < blocks.size(); ++i) {
      const CheckpointRows& block = contents.rows[i];
      if (block.first < first || block.first >= last) continue;
      const auto begin = blocks[i].begin() + static_cast<int64_t>(chain * block.count * width);
      all.insert(all.end(), begin, begin + static_cast<int64_t>(block.count * width));
    }
  return all;
}

void describe(const CheckpointHeader& header, const stats::ModelState& model, Draws& draws) {
  const Json options = Json::parse(header.options);
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
  check_model(header, path, model);
  Draws draws;
  describe(header, model, draws);
  const bool has_warmup = Json::parse(header.options).at("save_warmup");
  const int64_t warm = has_warmup ? (draws.warmup + draws.thin - 1) / draws.thin : 0;
  const Tensor graph = make_density(model, header.is_f32 ? DType::f32 : DType::f64).constant;
  const double constant = stats::at_point(model, {graph}, {})[0].item<double>();
  const auto per_chain = [&](const std::vector<double>& rows) {
    return static_cast<int64_t>(rows.size() / header.row_elements() / header.chains);
  };
  const auto rows = rows_between(contents, static_cast<uint64_t>(warm), UINT64_MAX);
  draws.draws = per_chain(rows);
  if (draws.draws == 0) return draws;
  collect_draws(model, rows, constant, device, draws.variables, draws.stats);
  if (has_warmup) {
    const auto first = rows_between(contents, 0, static_cast<uint64_t>(warm));
    draws.warmup_draws = per_chain(first);
    collect_draws(model, first, constant, device, draws.warmup_variables, draws.warmup_stats);
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
  const auto layout = nlohmann::json::parse(read_checkpoint(path).header.layout, nullptr, false);
  return layout.is_object() ? layout.value("model", "") : "";
}

Draws draws_so_far(const std::string& path, const Model& model, const std::shared_ptr<Device>& device) {
  return sampling::draws_so_far(read_checkpoint(path), path, model.state(), device);
}

std::optional<int64_t> draws_in_checkpoint(const std::string& path) try {
  const CheckpointContents contents = read_checkpoint(path);
  if (!contents.state) return {};
  const auto options = nlohmann::json::parse(contents.header.options);
  const uint64_t warmup = options.at("warmup"), thin = options.at("thin");
  const uint64_t first = options.at("save_warmup").get<bool>() ? (warmup + thin - 1) / thin : 0;
  int64_t draws = 0;
  for (const CheckpointRows& rows : contents.rows)
    if (rows.first >= first) draws += static_cast<int64_t>(rows.count);
  return draws;
} catch (const std::exception&) {  // no file, or none of ours
  return {};
}

}  // namespace adit
