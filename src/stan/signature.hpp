// The table of built-in functions: what they take and give. The checker, docs/stan.md and the tests read it;
// each is computed in functions/.
//
// A row's text is "result (argument, ...)" or, for densities, "real (x | a, b)". Words for arguments:
//   int real vector row_vector matrix    as they are; an int goes where a real is wanted
//   int[] real[] vector[] matrix[] int[,] real[,] ...   arrays of them
//   int[...] real[...]   arrays of any number of axes
//   ints       int or int[]
//   reals      real, vector, row_vector or real[] (and ints): sizes agree, a scalar stands for all
//   vectors    vector, row_vector, vector[] or row_vector[]: of multivariate densities
//   line       vector or row_vector
//   list       vector, row_vector or real[]
//   numbers    any scalar, container or array of containers of numbers: elementwise
//   dense      int, real, vector, row_vector or matrix: elementwise
//   scalars    int, real or an array of them with any number of axes: elementwise
//   integers   int or an array of them with any number of axes: elementwise
//   any        anything
//   array      an array of anything
//   same       the type of the first `any` or `array` argument, but for integers and reals
//   function   the name of a function of the program
//   ...        what that function takes besides
// and for results: the words of types above, `elementwise` (the widest of the arguments, integers as reals),
// `integers` (int or an array of int like the arguments), `same` (as above), `any[]`, `any[,]` (arrays of
// what the first argument is), `reals of rng` and `ints of rng` (a number, or an array of the common size)
// and `vectors of rng` (vector, or vector[] where an argument is an array). A name with _lupdf or _lupmf
// means the row with _lpdf or _lpmf.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stan/type.hpp"

namespace adit::stan {

struct Signature {
  const char* name;
  const char* text;
  const char* doc;  // one sentence
};
// All rows, sorted by name; one name may have several.
std::span<const Signature> signatures();

struct Resolved {
  bool found = false;
  Type result;
  std::string problem;  // else: one sentence with what there is, or the nearest name
  int promotions = 0;   // arguments that go from integers to reals
};
bool is_builtin(const std::string& name);
Resolved resolve(const std::string& name, const std::vector<Type>& arguments);
std::string nearest_name(const std::string& name);  // "" where none is near

}  // namespace adit::stan
