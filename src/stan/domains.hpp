// What built-in functions demand of their arguments beyond types and sizes: where Stan throws, the point is
// rejected or the run ends with an error (demands.cpp). Warnings about loose declarations read it as well.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <adit/ops.hpp>

#include "stan/syntax.hpp"

namespace adit::stan {

// Of each number of an argument.
struct Domain {
  char letter;
  const char* words;  // "expected a number that is ..."
  bool (*number)(double x);
  Tensor (*tensor)(const Tensor& x);  // where it holds
};
const Domain* domain_of(char letter);  // none: a letter of wholes, or of nothing

// Letters of arguments: those of domain_of(), and
//   s simplex, o ordered, d covariance, c correlation, L and C their Cholesky factors, y symmetric
//   P positive and ordered, u unit vector, z and Z of sums that are 0, r and q rows and columns of simplexes
//   S positive semidefinite, of a vector at least 0, T lower triangular
//   k a class from 1 on, by the size of the last argument
//   w above the size of the last argument's matrix less 1
//   . anything
// A density's first letter is that of what it is a density of.
struct Demands {
  std::string_view name;  // of a density without its ending
  std::string_view letters;
  char support = '.';  // of a density: where it has any, + or 1 (its own letter says where Stan throws)
  // Arguments of which the first has to be below the second; none: -1.
  int below = -1, above = -1;
  bool may_be_equal = false;
  // Its formula gives numbers outside of its domain, so that parameters of a density are looked at too.
  bool hides = false;
};
const Demands* demands_of(std::string_view name);  // none: nothing
std::span<const Demands> all_demands();
// A function without the ending of a density or of a draw.
std::string_view name_of_family(std::string_view name);

bool is_structure(char letter);
Transform::Kind structure_of(char letter);
char letter_of(Transform::Kind kind);  // '.': it is of no whole
// Whether what is promised has what is demanded.
bool promises(char promised, char demanded);

}  // namespace adit::stan
