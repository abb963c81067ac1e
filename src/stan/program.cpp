// The public door.
#include <filesystem>
#include <fmt/format.h>

#include <adit/error.hpp>
#include <adit/stan.hpp>
#include <adit/text.hpp>

#include "io/file.hpp"
#include "stan/check.hpp"
#include "stan/format.hpp"
#include "stan/lower.hpp"
#include "stan/parse.hpp"

namespace adit {

namespace {

namespace fs = std::filesystem;

constexpr uintmax_t most_bytes = 64 << 20;

std::string program_text(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    throw Error(ErrorKind::io, fmt::format("[stan] path: expected a file, got the folder {}", path));
  if (const auto size = fs::file_size(path, error); !error && size > most_bytes)
    throw Error(ErrorKind::io,
                fmt::format("[stan] path: expected at most {} bytes, got {}", most_bytes, size));
  const Bytes bytes = read_file({"stan", "path: " + printable(path)}, path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Of the file that `#include` names: the first below the folders, then as the name stands, if it is a whole
// path.
std::optional<stan::Source> included(const std::vector<std::string>& folders, const std::string& wanted,
                                     std::vector<std::string>& files) {
  const fs::path name(wanted);
  std::vector<fs::path> places;
  for (const std::string& folder : folders) places.push_back(fs::path(folder) / name.relative_path());
  if (name.is_absolute() && !folders.empty()) places.push_back(name);
  for (const fs::path& path : places) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) continue;
    if (!fs::is_regular_file(status))
      throw Error(ErrorKind::io,
                  fmt::format("Expected a file behind '#include', but {} is {}.", printable(path.string()),
                              fs::is_directory(status) ? "a folder" : "none: it may have no end"));
    files.push_back(path.string());
    try {
      return stan::Source{wanted, program_text(path.string())};
    } catch (const Error& unreadable) {
      throw Error(unreadable.kind(), fmt::format("Could not read the included file: {}", unreadable.what()));
    }
  }
  if (places.size() > 1)
    throw Error(ErrorKind::not_found, fmt::format("Could not find the included file '{}' in {}.",
                                                  printable(wanted), fmt::join(folders, ", ")));
  return {};
}

struct Read {
  std::shared_ptr<stan::Program> program;
  std::vector<StanMessage> messages;
  std::vector<std::string> included_files{};
};

StanMessage told(const stan::Program& program, const stan::Message& message) {
  const stan::Source& source = program.sources[message.place.file];
  const stan::LineColumn first = line_of(source, message.place.begin),
                         last = line_of(source, message.place.end);
  const auto number = [](uint32_t x) { return static_cast<int>(x); };
  return {message.kind != stan::Message::Kind::warning,
          source.name,
          message.text,
          number(first.line),
          number(first.column),
          number(last.line),
          number(last.column),
          to_text(program.sources, message)};
}

Read read_program(const std::string& name, const std::string& text, std::vector<std::string> folders,
                  const StanOptions& options) {
  folders.insert(folders.end(), options.include_paths.begin(), options.include_paths.end());
  std::vector<std::string> files;
  const stan::Include include = [&](const std::string& wanted) { return included(folders, wanted, files); };
  stan::Parsed parsed = stan::parse(name, text, include);
  Read read{std::make_shared<stan::Program>(std::move(parsed.program)), {}, std::move(files)};
  read.program->name = fs::path(name).stem().string();
  const bool parsed_well =
      std::none_of(parsed.messages.begin(), parsed.messages.end(),
                   [](const stan::Message& m) { return m.kind != stan::Message::Kind::warning; });
  for (const stan::Message& message : parsed.messages) read.messages.push_back(told(*read.program, message));
  if (parsed_well)
    for (const stan::Message& message : stan::check(*read.program, options.allow_undefined))
      read.messages.push_back(told(*read.program, message));
  return read;
}

// Throws where one of the messages is an error.
std::vector<StanMessage> only_warnings(std::vector<StanMessage> messages) {
  std::string errors;
  for (const StanMessage& message : messages)
    if (message.is_error) errors += (errors.empty() ? "" : "\n") + message.text;
  if (!errors.empty()) throw Error(ErrorKind::bad_argument, errors);
  return messages;
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

StanProgram::StanProgram(const std::string& path, const StanOptions& options) {
  Read read = read_program(path, program_text(path), {folder_of(path)}, options);
  warnings_ = only_warnings(std::move(read.messages));
  included_files_ = std::move(read.included_files);
  program_ = std::move(read.program);
}

StanProgram StanProgram::from_text(const std::string& name, const std::string& text,
                                   const StanOptions& options) {
  Read read = read_program(name, text, {}, options);
  StanProgram program;
  program.warnings_ = only_warnings(std::move(read.messages));
  program.program_ = std::move(read.program);
  return program;
}

const std::string& StanProgram::name() const { return program_->name; }
const std::vector<StanMessage>& StanProgram::warnings() const { return warnings_; }
std::string StanProgram::formatted() const { return stan::format(*program_); }

namespace {

// Where StanOptions::allow_undefined let them through.
void expect_defined(const stan::Program& program) {
  std::string missing;
  for (const stan::Function* function : stan::undefined_functions(program)) {
    const stan::Source& source = program.sources[function->name_place.file];
    missing += fmt::format("{}'{}' ('{}', line {})", missing.empty() ? "" : ", ", function->name,
                           printable(source.name), line_of(source, function->name_place.begin).line);
  }
  if (!missing.empty())
    throw Error(ErrorKind::bad_argument,
                fmt::format("[stan] {}: expected functions with bodies, got declarations alone of {}",
                            program.name, missing));
}

StanProgram::Bound bound(const stan::Program& program, const stan::DataValues& data, uint64_t seed) {
  expect_defined(program);
  stan::Lowered lowered = stan::lower(program, data, seed);
  return {std::move(lowered.model), std::move(lowered.prints), std::move(lowered.notes),
          std::move(lowered.lowering)};
}

}  // namespace

StanProgram::Bound StanProgram::bind(const std::string& data_path, uint64_t seed) const {
  return bound(*program_, data_path.empty() ? stan::DataValues() : stan::read_data(data_path), seed);
}

StanProgram::Bound StanProgram::bind_json(const std::string& json, uint64_t seed) const {
  return bound(*program_, stan::data_from_json(json, "data"), seed);
}

std::vector<StanMessage> check_stan(const std::string& path, const StanOptions& options) {
  return read_program(path, program_text(path), {folder_of(path)}, options).messages;
}

}  // namespace adit
