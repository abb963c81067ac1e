#include "sample/journal.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "density/digest.hpp"
#include "support/hash.hpp"
#include "support/json.hpp"

namespace adit::sampling {

namespace {

using Json = nlohmann::ordered_json;

class Digest {
 public:
  void add(std::span<const std::byte> bytes) { hash_ = hash64(bytes, hash_); }
  void add(const std::vector<double>& numbers) { add(std::as_bytes(std::span(numbers))); }
  void add(const std::string& text) { add(std::as_bytes(std::span(text.data(), text.size()))); }
  std::string words() const { return fmt::format("{:016x}", hash_); }

 private:
  uint64_t hash_ = 0;
};

std::string digest_of(Device& device, const Run& run) {
  Digest digest;
  digest.add(std::vector{run.constant()});
  for (const Buffer& buffer : run.data()) {
    std::vector<std::byte> bytes(buffer.bytes());
    device.read(buffer, bytes.data(), bytes.size());
    digest.add(bytes);
  }
  return digest.words();
}

std::string digest_of(const SampleOptions& options) {
  Digest digest;
  for (const auto& values : options.init) {
    digest.add("chain");
    for (const auto& [name, numbers] : values) {
      digest.add(name);
      digest.add(numbers);
    }
  }
  digest.add(options.warm_start.step_sizes);
  for (const auto& metric : options.warm_start.inverse_metrics) digest.add(metric);
  return digest.words();
}

Json settings_of(const SampleOptions& options, const Run& run, const Device& device) {
  return {{"chains", options.chains},
          {"first_chain", options.first_chain},
          {"warmup", options.warmup},
          {"draws", options.draws},
          {"thin", options.thin},
          {"seed", options.seed},
          {"device", device.info().id},
          {"processor", device.info().name},
          {"precision", name_of(run.choice().type, run.choice().wide)},
          {"wide", static_cast<int>(run.choice().wide)},
          {"metric", static_cast<int>(options.metric)},
          {"adapt", static_cast<int>(options.adapt)},
          {"adapt_delta", options.adapt_delta},
          {"step_size", options.step_size},
          {"gamma", options.gamma},
          {"kappa", options.kappa},
          {"t0", options.t0},
          {"max_depth", options.max_depth},
          {"init_buffer", options.init_buffer},
          {"term_buffer", options.term_buffer},
          {"window", options.window},
          {"init_radius", options.init_radius},
          {"restart_stuck", options.restart_stuck},
          {"save_warmup", options.save_warmup},
          {"init and warm_start", digest_of(options)},
          {"layout", run.layout()},
          {"origin", options.origin}};
}

// A file's name may be no UTF-8, which JSON cannot tell.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

[[noreturn]] void refuse(const std::string& path, const std::string& key, const std::string& before,
                         const std::string& now) {
  throw Error(ErrorKind::bad_argument,
              fmt::format("[sample] resume: expected {} {} as in {}, got {}", key, before, path, now));
}

// As the options are called where they are given.
std::string shown(const std::string& key, const Json& value) {
  if (key == "metric" && value.is_number_integer())
    return sampling::name_of(static_cast<Metric>(value.get<int>()));
  if (key == "adapt" && value.is_number_integer()) return value.get<int>() == 0 ? "chain" : "pooled";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// More draws than before may be asked for, or fewer, of a model that lies elsewhere now; all else must be the
// same.
void compare(const std::string& path, const std::string& before, const std::string& now) {
  if (before == now) return;
  const Json old = parse_json<Json>(before), given = Json::parse(now);
  for (const auto& [key, value] : given.items()) {
    const bool known = old.is_object() && old.contains(key);
    if (key != "draws" && key != "origin" && (!known || old[key] != value))
      refuse(path, key, known ? shown(key, old[key]) : "unknown", shown(key, value));
  }
}

}  // namespace

const char* name_of(Metric metric) {
  return metric == Metric::dense ? "dense" : metric == Metric::unit ? "unit" : "diag";
}

std::vector<std::string> variables_of(const stats::ModelState& model) {
  std::vector<std::string> variables;
  for (const auto& variable : model.variables)
    variables.push_back(
        fmt::format("{} {} {}", variable.name, to_string(variable.shape), variable.constraint.name));
  return variables;
}

CheckpointHeader header_of(const Run& run, const stats::ModelState& model, const SampleOptions& options,
                           Device& device) {
  CheckpointHeader header;
  header.options = text_of(settings_of(options, run, device));
  header.layout = text_of(Json{{"model", model.name},
                               {"variables", variables_of(model)},
                               {"data", digest_of(device, run)},
                               {"density", digest_of(run.density())},
                               {"kernel", kernel::content_hash(run.kernel().program)}});
  header.dimensions = static_cast<uint64_t>(model.size);
  header.stats = static_cast<uint64_t>(run.kernel().layout.stats);
  header.chains = static_cast<uint64_t>(run.chains());
  header.is_f32 = run.density().type == DType::f32;
  header.state_bytes = run.state_bytes();
  return header;
}

std::string precision_of(const CheckpointHeader& header) {
  const Json options = parse_json<Json>(header.options);
  const bool tells = options.is_object() && options.contains("precision") && options["precision"].is_string();
  return tells ? options["precision"].get<std::string>() : header.is_f32 ? "f32" : "f64";
}

std::string layout_of(const CheckpointHeader& header) {
  const Json options = parse_json<Json>(header.options);
  const bool tells = options.is_object() && options.contains("layout") && options["layout"].is_string();
  return tells ? options["layout"].get<std::string>() : "";
}

constexpr double written_a_second = 1e9;  // bytes, until it is measured. A guess at a disk

Journal::Journal(const std::string& path, const CheckpointHeader& header, bool resume, double shortest)
    : shortest_(shortest), cost_(static_cast<double>(header.state_bytes) / written_a_second) {
  if (!resume) {
    writer_ = std::make_unique<CheckpointWriter>(path, header);
    return;
  }
  contents_ = read_checkpoint(path);
  // Options first: the kernel depends on them, and its hash tells nobody what to change.
  compare(path, contents_.header.options, header.options);
  compare(path, contents_.header.layout, header.layout);
  if (contents_.header.chains != header.chains)
    refuse(path, "chains", std::to_string(contents_.header.chains), std::to_string(header.chains));
  writer_ = std::make_unique<CheckpointWriter>(path, contents_);
  holds_state_ = contents_.state.has_value();
  contents_.rows.resize(holds_state_ ? contents_.state->blocks : 0);
  if (holds_state_) generation_ = contents_.state->generation;
}

// A file that nothing could go on from is of no use.
Journal::~Journal() {
  if (!holds_state_ && writer_) writer_->discard();
}

bool Journal::due() const {
  const auto now = Clock::now();
  const auto seconds = [&](Clock::time_point from) {
    return std::chrono::duration<double>(now - from).count();
  };
  return seconds(last_) >= std::max({shortest_, shortest_ / 10 * seconds(begin_), 20 * shortest_ * cost_});
}

void Journal::state(std::span<const std::byte> bytes, Clock::time_point begin) {
  writer_->state(++generation_, bytes);
  holds_state_ = true;
  last_ = Clock::now();
  cost_ = std::chrono::duration<double>(last_ - begin).count();
}

}  // namespace adit::sampling
