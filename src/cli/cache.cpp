// adit cache: what is kept on disk, and how to be rid of it.
#include <fmt/format.h>

#include <adit/cache.hpp>
#include <adit/error.hpp>

#include "cli/command.hpp"
#include "cli/report.hpp"
#include "cli/table.hpp"

namespace adit::cli {

int cache_show(bool json) {
  const auto directory = cache::directory();
  const auto trouble = cache::unusable();
  const std::vector<cache::Usage> usage = trouble ? std::vector<cache::Usage>{} : cache::usage();
  uint64_t files = 0, bytes = 0;
  for (const auto& kind : usage) {
    files += kind.files;
    bytes += kind.bytes;
  }
  if (json) {
    Json document{{"directory", directory ? Json(directory->string()) : Json()}, {"kinds", Json::array()}};
    for (const auto& kind : usage)
      document["kinds"].push_back({{"kind", kind.kind}, {"files", kind.files}, {"bytes", kind.bytes}});
    document["files"] = files;
    document["bytes"] = bytes;
    document["unusable"] = trouble ? Json(*trouble) : Json();
    fmt::print("{}\n", document.dump(2));
    return 0;
  }
  if (trouble || !directory) {
    fmt::print("The cache is {}.\n", trouble ? "not used: " + *trouble : "off");
    return 0;
  }
  fmt::print("{}\n\n", directory->string());
  std::vector<std::vector<std::string>> rows{{"kind", "files", "size"}};
  for (const auto& kind : usage)
    rows.push_back({kind.kind, fmt::format("{}", kind.files), size_in_words(kind.bytes)});
  rows.push_back({"all", fmt::format("{}", files), size_in_words(bytes)});
  fmt::print("{}", table(rows));
  return 0;
}

int cache_clear(bool json) {
  if (const auto trouble = cache::unusable()) throw Error(ErrorKind::io, "[cache clear] " + *trouble);
  const uint64_t removed = cache::clear();
  if (json)
    fmt::print("{}\n", Json{{"removed", removed}}.dump(2));
  else
    fmt::print("{} files removed\n", removed);
  return 0;
}

}  // namespace adit::cli
