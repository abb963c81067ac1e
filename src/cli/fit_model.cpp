#include "cli/fit_model.hpp"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include <adit/device.hpp>
#include <adit/tensor.hpp>
#include <adit/text.hpp>

#include "cli/catalogue.hpp"
#include "cli/paths.hpp"
#include "cli/saved_draws.hpp"
#include "cli/usage.hpp"
#include "cli/values_file.hpp"

namespace adit::cli {

FitModel::FitModel(const char* command, const FitWords& words) : words_(words), name_(words.model) {
  const std::string where = fmt::format("[{}] ", command);
  const std::vector<std::string> known = model_names();
  if (name_.empty() && known.size() == 1) name_ = known[0];
  if (name_.empty())
    throw UsageError(
        fmt::format("{}model: expected a Stan program, or one of {}", where, fmt::join(known, ", ")));
  if (!words.device.empty()) device_id(where + "--device", words.device);
  if (words.json && !words.output.empty()) expect_utf8(where + "--output", words.output);
  if (!is_stan_path(name_)) {
    if (!words.data.empty())
      throw UsageError(fmt::format("{}--data: expected it with a Stan program, got the model {}", where,
                                   printable(name_)));
    choice_of(where + "model", name_, known);
    return;
  }
  if (!words.data.empty() && words.data != "-") require_file(command, "--data", words.data);
  program_.emplace(name_, words.data, words.quiet || words.json, words.include_paths);
  name_ = program_->name();
}

Model FitModel::make() const {
  set_default_device(Device::open(words_.device));
  return program_ ? program_->make(words_.seed) : make_model(name_);
}

Inputs FitModel::inputs() const {
  Inputs inputs;
  if (program_) inputs.add("the program", words_.model);
  if (program_) inputs.add("#include", program_->included_files());
  inputs.add("--data", words_.data);
  inputs.add("--init", words_.init);
  inputs.add("--mode", words_.mode);
  inputs.add("--constrained-params", words_.constrained);
  inputs.add("--unconstrained-params", words_.unconstrained);
  return inputs;
}

FitStart::FitStart(const char* command, const std::string& init)
    : where(fmt::format("[{}] --init", command)), path(init) {
  const auto [end, error] = std::from_chars(init.data(), init.data() + init.size(), radius);
  const bool is_number = end == init.data() + init.size();
  if (is_number && error == std::errc::result_out_of_range) real_number(where, init);  // says which way
  if (is_number && error == std::errc()) {
    if (!std::isfinite(radius) || radius < 0)
      throw UsageError(
          fmt::format("{}: expected a number that is 0 or more, or a file of values, got {}", where, init));
    return;
  }
  radius = 2;
  text = read_values_text(where, path);
}

NamedValues FitStart::values(const Model& model) const {
  if (!text) return {};
  return parse_values(where, path, *text, model, ValueNames::some).values;
}

}  // namespace adit::cli
