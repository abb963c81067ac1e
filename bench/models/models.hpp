// The models of models_bench. Each has a twin of the same name in bench/stan and in bench/models_numpyro.py:
// the same data, variables, priors and order of declaration. Only the public headers are used.
//
// Variables that lie on a simplex are declared first: Stan's older map to a simplex differs, and
// models_rstan.R finds them there.
#pragma once

#include <string>
#include <vector>

#include <adit/model.hpp>

#include "models/data.hpp"

namespace adit::bench {

struct BenchModel {
  std::string name;
  int64_t rows = 0;
  bool has_factorisation = false;  // the density factorises a matrix
  Data (*data)() = nullptr;
  Model (*model)(const Data& data) = nullptr;
};

// By file: grouped.cpp, items.cpp, series.cpp, mixtures.cpp, processes.cpp, regressions.cpp.
std::vector<BenchModel> grouped_models();
std::vector<BenchModel> item_models();
std::vector<BenchModel> series_models();
std::vector<BenchModel> mixture_models();
std::vector<BenchModel> process_models();
std::vector<BenchModel> regression_models();

inline std::vector<BenchModel> all_models() {
  std::vector<BenchModel> all;
  for (const auto& part : {grouped_models(), item_models(), series_models(), mixture_models(),
                           process_models(), regression_models()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace adit::bench
