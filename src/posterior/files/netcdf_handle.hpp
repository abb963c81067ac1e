// libnetcdf's handles that close themselves, and its errors as ours.
#pragma once

#include <fmt/format.h>
#include <mutex>
#include <netcdf.h>
#include <netcdf_mem.h>
#include <utility>

#include "posterior/files/csv.hpp"

namespace adit::netcdf {

inline void check(const Place& place, int status, const std::string& what) {
  if (status != NC_NOERR) place.fail(fmt::format("{}: libnetcdf says: {}", what, nc_strerror(status)));
}

// libnetcdf is not for several threads at a time: who calls it holds this.
inline std::unique_lock<std::mutex> hold_library() {
  static std::mutex one;
  return std::unique_lock(one);
}

// An open file in memory.
class Handle {
 public:
  Handle() = default;
  ~Handle() {
    if (id_ >= 0) nc_abort(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  int* place_for_id() { return &id_; }
  int id() const { return id_; }
  int release() { return std::exchange(id_, -1); }

 private:
  int id_ = -1;
};

// ArviZ's name of a number of the sampler, and those it or others had before.
struct StatName {
  std::vector<const char*> names;
  std::vector<double> SampleStats::*member;
};
inline const std::vector<StatName>& stat_names() {
  static const std::vector<StatName> names{
      {{"lp"}, &SampleStats::lp},
      {{"acceptance_rate", "mean_tree_accept", "accept_stat"}, &SampleStats::accept_stat},
      {{"step_size", "stepsize"}, &SampleStats::step_size},
      {{"tree_depth", "treedepth", "depth"}, &SampleStats::tree_depth},
      {{"n_steps", "n_leapfrog", "tree_size"}, &SampleStats::n_leapfrog},
      {{"diverging", "divergent"}, &SampleStats::divergent},
      {{"energy"}, &SampleStats::energy},
  };
  return names;
}

}  // namespace adit::netcdf
