// What a stage is on the disk (staged_files.hpp), for those who write one and those who end what others left.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adit::cli::stage {

inline constexpr std::string_view prefix = ".adit.writing-";
inline constexpr const char *origin_name = "origin", *record_name = "commit", *part_name = "part",
                            *files_name = "files";

// Also where that cannot be told: what may be there is not passed over.
bool is_there(const std::filesystem::path& path);
// All that is left to read; nothing where that fails.
std::optional<std::string> text_in(int file);
// Names of files are on the disk too when this returns, where the file system can be asked.
void sync_folder(const std::filesystem::path& folder);

// What is in a record: other stages, which have a "/" in them, and names that are to go. A stage is named as
// it is seen from the folder of the stage whose record it is, so that all of them may be moved with their
// folders. A record that is there and cannot be read is an error.
std::string text_of(const std::vector<std::string>& names);
std::vector<std::string> names_in(const std::filesystem::path& record);
bool is_stage_name(const std::string& name);
std::string name_of_stage(const std::filesystem::path& stage, const std::filesystem::path& folder);

// Files of the stage, by name. Throws where they cannot be listed: none is something else.
std::vector<std::string> files_in(const std::filesystem::path& stage);
// Those of the names that are files of ours alone: what a list names may have been changed since.
void remove_outdated(const std::filesystem::path& folder, const std::vector<std::string>& names);
// The record first, so that what is left does not count, and the origin last, so that it is known as ours.
void remove(const std::filesystem::path& stage);

}  // namespace adit::cli::stage
