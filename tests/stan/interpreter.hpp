// A plain interpreter of Stan programs, to test the compiled ones against. It shares the syntax tree with
// them and nothing that computes: it walks the tree with numbers (interpreter_number.hpp) and takes functions
// from std:: and boost::math.
//
// Densities are whole: `~` drops no constants. Jacobians of parameters are added.
#pragma once

#include <span>

#include "interpreter_machine.hpp"

namespace adit::stan::reference {

// A variable of parameters, transformed parameters or generated quantities. Members of tuples come as
// name:1, name:2, ..., tuples of an array as name.1, name.2, ...
struct Output {
  std::string name;
  BlockKind block = BlockKind::parameters;
  std::vector<int64_t> sizes;
  std::vector<double> values;  // the last axis is the quickest
};

struct ParameterPlace {
  std::string name;
  int64_t first = 0, count = 0;  // among the unconstrained numbers
};

class Interpreter {
 public:
  // The program was parsed and checked, and outlives this. Data are an object as CmdStan's JSON has it.
  // Throws Failure where a variable is missing or is not as declared.
  Interpreter(const Program& program, const nlohmann::json& data);

  int64_t size() const { return size_; }  // of the unconstrained numbers
  const std::vector<ParameterPlace>& places() const { return places_; }

  // -infinity where the program rejects.
  double log_density(std::span<const double> unconstrained) const;
  std::vector<double> gradient(std::span<const double> unconstrained) const;
  // The derivative along a direction.
  double slope(std::span<const double> unconstrained, std::span<const double> direction) const;
  // Of generated quantities those that need no random numbers.
  std::vector<Output> outputs(std::span<const double> unconstrained) const;

 private:
  const Program& program_;
  Scope constants_;  // data and transformed data
  std::vector<ParameterPlace> places_;
  int64_t size_ = 0;

  void read_parameters(Machine& machine, Numbers unconstrained) const;
  void run_transformed(Machine& machine) const;
  Number evaluate(std::span<const double> unconstrained, std::span<const double> direction) const;
};

// Top-level statements of generated quantities that neither draw random numbers nor read what was drawn, and
// the names that the others write.
struct Determined {
  std::vector<const Statement*> statements;
  std::vector<std::string> random;
};
Determined determined(const Program& program);

}  // namespace adit::stan::reference
