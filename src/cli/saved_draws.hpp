// Draws on disk, as the commands find them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <adit/diagnostics.hpp>

namespace adit::cli {

// Throws "[command] argument: ... does not exist".
void require_exists(const std::string& command, const std::string& argument, const std::string& path);

// CmdStan's CSV files (one a chain), a netCDF file, a folder that `adit sample` wrote, or the checkpoint of a
// run that was cut short. Errors read "[command] argument: ...".
Draws read_saved(const std::string& command, const std::string& argument,
                 const std::vector<std::string>& paths);

// The rows of a summary as every command prints them, names as in the table; what is not finite becomes null.
nlohmann::ordered_json to_json(const std::vector<SummaryRow>& rows);

}  // namespace adit::cli
