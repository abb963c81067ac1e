// Draws on disk, as the commands find them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <adit/diagnostics.hpp>

namespace adit::cli {

// Throws "[command] argument: ... does not exist".
void require_exists(const std::string& command, const std::string& argument, const std::string& path);
// The same where it is a folder.
void require_file(const std::string& command, const std::string& argument, const std::string& path);

// The files of draws that paths name: CmdStan's CSV files (one a chain), a netCDF file, the checkpoint of a
// run that was cut short; of a folder that `adit sample` wrote, those in it. Errors read "[command] argument:
// ...".
std::vector<std::string> saved_files(const std::string& command, const std::string& argument,
                                     const std::vector<std::string>& paths);

// Their draws. A folder must hold all chains of one run and of no other.
Draws read_saved(const std::string& command, const std::string& argument,
                 const std::vector<std::string>& paths);

// The rows of a summary as every command prints them, names as in the table; what is not finite becomes null.
nlohmann::ordered_json to_json(const std::vector<SummaryRow>& rows);

}  // namespace adit::cli
