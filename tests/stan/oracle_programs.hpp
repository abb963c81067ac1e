// The programs of oracle/ with what Stan computed for them (oracle/record writes it).
#pragma once

#include <string>
#include <vector>

namespace adit::test {

struct OraclePoint {
  std::vector<double> place;  // unconstrained, in Stan's order
  double log_density = 0;     // with all constants and Jacobians
  std::vector<double> gradient;
};

struct OracleProgram {
  std::string name, text, data;
  std::string origin;  // "stan", "stan as written out", "mpmath"
  double within =
      1e-10;  // of the larger of 1 and what is recorded; more only where the program's head says why
  bool skips_interpreter = false;  // which lacks a function that the program's head names
  std::vector<OraclePoint> points;
};

// All, or those that `only` names ("one,another"). Throws where a program was not recorded, or was changed
// since.
std::vector<OracleProgram> oracle_programs(const std::string& folder, const std::string& only = "");

}  // namespace adit::test
