// Text for people: tables whose columns line up, and sizes in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace adit::cli {

// The first row is the head. Columns are as wide as their widest cell; the last one runs free. What a
// terminal would obey in a cell is shown instead.
std::string table(std::vector<std::vector<std::string>> rows);

std::string size_in_words(uint64_t bytes);  // "512 B", "1.5 KiB", "24 GiB"

}  // namespace adit::cli
