// What `record` compiles around the models that Stan's compiler writes: values and gradients at points.
#pragma once

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stan/io/dump.hpp>
#include <stan/model/model_header.hpp>
#include <string>
#include <vector>

// Each line of NAME.points has more numbers than the model takes. A line of the output: the number of
// parameters, the log density with all constants and with Jacobians, its gradient; or what was thrown.
template <class Model>
void record(const std::string& folder, const std::string& name) {
  std::printf("= %s\n", name.c_str());
  try {
    std::ifstream data_file(folder + "/" + name + ".data"), points(folder + "/" + name + ".points");
    stan::io::dump data(data_file);
    const Model model(data, 1, &std::cerr);
    for (std::string line; std::getline(points, line);) {
      std::istringstream numbers(line);
      std::vector<stan::math::var> u;
      std::vector<int> none;
      double x = 0;
      for (size_t i = 0; i < model.num_params_r() && numbers >> x; ++i) u.emplace_back(x);
      if (u.size() != model.num_params_r()) throw std::runtime_error("too few numbers in a point");
      stan::math::var lp = model.template log_prob<false, true>(u, none, &std::cerr);
      lp.grad();
      std::printf("%zu %.17g", u.size(), lp.val());
      for (const stan::math::var& one : u) std::printf(" %.17g", one.adj());
      std::printf("\n");
      stan::math::recover_memory();
    }
  } catch (const std::exception& error) {
    std::printf("threw: %s\n", error.what());
  }
}
