// Paths as users type them: what lies there, and clear words where nothing can.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace adit::cli {

enum class PathKind : uint8_t { nothing, file, folder, other };

// `where` begins the errors: "[summary] files". Links are followed. Throws where nothing can be told: an
// empty path, a name that is too long, a folder that may not be entered.
PathKind kind_at(const std::string& where, const std::filesystem::path& path);
// Of the name itself: a link is `other`.
PathKind kind_of_name(const std::string& where, const std::filesystem::path& path);

// What a folder holds, by name.
std::vector<std::filesystem::path> entries_of(const std::string& where, const std::filesystem::path& folder);

// The folder that a name stands in.
std::filesystem::path parent_of(const std::filesystem::path& path);

// JSON can only tell names in UTF-8.
void expect_utf8(const std::string& where, const std::string& path);

}  // namespace adit::cli
