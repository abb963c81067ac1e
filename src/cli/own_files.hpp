// Which files adit may write over or remove: those that carry its own mark.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace adit::cli {

class Inputs;

enum class Content : uint8_t {
  draws,   // CSV or netCDF, by the name
  values,  // CSV without draws
  report,
  checkpoint
};

// Whether adit wrote the file of this name; links are nobody's.
bool is_own_file(const std::filesystem::path& path);

// Whether a file that was written to come to this name may still come there: where nothing is, or what a new
// file of its kind may replace.
bool may_come(const std::filesystem::path& written, const std::filesystem::path& place);

// Throws, with `where` in front, unless a new file may come to this name: where nothing is, or an empty file,
// or an older one of ours with the same content; never where the command reads.
void expect_own_place(const std::string& where, const std::filesystem::path& path, Content content,
                      const Inputs& inputs);

}  // namespace adit::cli
