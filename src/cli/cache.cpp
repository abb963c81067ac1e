// adit cache: what is kept on disk, and how to be rid of it.
#include <fmt/format.h>

#include <adit/cache.hpp>
#include <adit/error.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"
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
    print_json(document);
    return 0;
  }
  if (trouble || !directory) {
    print_out("The cache is {}.\n", trouble ? "not used: " + *trouble : "off");
    return 0;
  }
  print_out("{}\n\n", directory->string());
  std::vector<std::vector<std::string>> rows{{"kind", "files", "size"}};
  for (const auto& kind : usage)
    rows.push_back({kind.kind, fmt::format("{}", kind.files), size_in_words(kind.bytes)});
  rows.push_back({"all", fmt::format("{}", files), size_in_words(bytes)});
  write_out(table(rows));
  return 0;
}

int cache_clear(bool json) {
  if (const auto trouble = cache::unusable()) throw Error(ErrorKind::io, "[cache clear] " + *trouble);
  const uint64_t removed = cache::clear();
  if (json)
    print_json(Json{{"removed", removed}});
  else
    print_out("{} files removed\n", removed);
  return 0;
}

}  // namespace adit::cli
