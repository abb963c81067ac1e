#include "cli/run_origin.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <adit/error.hpp>
#include <adit/text.hpp>

#include "cli/output.hpp"
#include "cli/paths.hpp"
#include "cli/stan_source.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;
using OriginJson = nlohmann::ordered_json;

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string whole_path(const std::string& path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).lexically_normal().string();
}

// Size and time: whether a file is likely to be the same, without reading it.
std::string stamp_of(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return {};
  const auto time = fs::last_write_time(path, error);
  return error ? std::string() : fmt::format("{} {}", size, time.time_since_epoch().count());
}

void expect_file(const std::string& where, const char* what, const std::string& path) {
  if (kind_at(where, path) == PathKind::nothing)
    throw Error(ErrorKind::not_found,
                fmt::format("{}: expected the {} of the run at {}, where nothing is any more", where, what,
                            printable(path)));
}

std::string text_at(const OriginJson& origin, const char* key) {
  const auto found = origin.find(key);
  return found != origin.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string origin_text(const std::string& program, const std::string& data,
                        const std::vector<std::string>& include_paths, uint64_t seed) {
  const bool reads_file = !data.empty() && data != "-";
  const std::string program_path = whole_path(program), data_path = reads_file ? whole_path(data) : data;
  if (!is_utf8(program_path) || !is_utf8(data_path)) return {};
  OriginJson folders = OriginJson::array();
  for (const std::string& folder : include_paths) {
    folders.push_back(whole_path(folder));
    if (!is_utf8(whole_path(folder))) return {};
  }
  return OriginJson{{"program", program_path},
                    {"include_paths", folders},
                    {"data", data_path},
                    {"data_stamp", reads_file ? stamp_of(data_path) : ""},
                    {"seed", seed}}
      .dump();
}

std::optional<Model> model_of_origin(const std::string& where, const std::string& text) {
  if (text.empty() || nests_too_deep(text)) return {};
  const OriginJson origin = OriginJson::parse(text, nullptr, false);
  if (!origin.is_object()) return {};
  const std::string program = text_at(origin, "program"), data = text_at(origin, "data");
  if (program.empty()) return {};
  if (data == "-")
    throw Error(ErrorKind::not_found, fmt::format("{}: expected a run whose data lie in a file, got one that "
                                                  "read them from standard input; --resume goes on with it",
                                                  where));
  expect_file(where, "program", program);
  if (!data.empty()) {
    expect_file(where, "data", data);
    if (stamp_of(data) != text_at(origin, "data_stamp"))
      print_err("The data in {} have changed since the run began: what follows from them may differ.\n",
                printable(data));
  }
  const auto seed = origin.find("seed");
  const bool has_seed = seed != origin.end() && seed->is_number_unsigned();
  std::vector<std::string> folders;
  if (const auto list = origin.find("include_paths"); list != origin.end() && list->is_array())
    for (const OriginJson& folder : *list)
      if (folder.is_string()) folders.push_back(folder.get<std::string>());
  return StanSource(program, data, true, folders).make(has_seed ? seed->get<uint64_t>() : 1);
}

}  // namespace adit::cli
