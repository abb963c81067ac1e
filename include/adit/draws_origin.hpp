// Which run draws are of, so that files of two runs are not taken for those of one; and who wrote a file.
#pragma once

#include <cstdint>
#include <string>

#include <adit/draws.hpp>

#pragma GCC visibility push(default)
namespace adit {

// A hash of the draws and of how they were made. CSV files carry it; draws of a netCDF file have it still.
std::string run_name(const Draws& draws);

// What a CSV file of draws says of its run; "" and 0 where it says nothing.
struct DrawsOrigin {
  std::string run;
  int64_t chains = 0;  // of the whole run
};
DrawsOrigin origin_of_csv(const std::string& path);

// Who wrote a file, by the marks that writers leave in it. A netCDF file that another program wrote anew has
// lost its check sum, and with it our mark: what is in it now is not only ours.
enum class FileMark : uint8_t {
  none,  // others; what is no plain file, or cannot be read
  empty,
  csv,          // ours, of draws or of values
  cmdstan_csv,  // CmdStan's
  netcdf,
  report
};
// Links are not followed.
FileMark mark_of_file(const std::string& path);

}  // namespace adit
#pragma GCC visibility pop
