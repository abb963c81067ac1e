// How much memory a run of the sampler takes, told before it begins.
#pragma once

#include <adit/sample.hpp>

#pragma GCC visibility push(default)
namespace adit {

// Bytes that a run takes at most, about, and rather more than less.
struct SampleMemory {
  double sampling = 0;                                  // until sample() returns
  double saving = 0;                                    // while write_netcdf() writes what it returned
  double log_likelihood = 0, posterior_predictive = 0;  // in both, once or more
};
SampleMemory memory_of(const Model& model, const SampleOptions& options);

// Bytes that this process can have: the machine's memory, or what a limit (ulimit -v) leaves of it. sample()
// refuses a run that takes more.
double memory_left();

}  // namespace adit
#pragma GCC visibility pop
