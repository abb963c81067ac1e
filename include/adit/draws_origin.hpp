// Which run draws are of, so that files of two runs are not taken for those of one.
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

}  // namespace adit
#pragma GCC visibility pop
