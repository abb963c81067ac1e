// The values of a density's leaves, in the two buffers that its kernels read.
#pragma once

#include <map>
#include <string>

#include "density/writer.hpp"

namespace adit::sampling {

struct BoundData {
  Buffer reals, places;
  uint32_t set_reals = 0, set_places = 0;  // numbers of one data set
  double constant = 0;                     // of the log density, of the first set
};

// `sets`: for each data set the values of some data by name; at least one set (which may be empty).
using DataSet = std::map<std::string, Tensor>;
// Throws where data say a place that does not exist.
void check_places(const stats::ModelState& model, const Density& density, const std::vector<DataSet>& sets);
// The leaves' values with a set's data in place of the model's, before them the density's constant.
Tensors leaf_values(const stats::ModelState& model, const Density& density, const DataSet& set);
BoundData bind_data(const stats::ModelState& model, const Density& density, const Segments& segments,
                    const std::vector<DataSet>& sets, Device& device);

}  // namespace adit::sampling
