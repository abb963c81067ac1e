// Loops and functions that are left early, written without break, continue and return: a jump sets flags, and
// what it would skip stands under a condition on them. A flag is a variable like any other, so that a loop
// which some rounds (or some points of the parameters) leave early is run as all others are.
//
//   for (i in 1:n) {              int going = 1;
//     a;                          for (i in 1:n)
//     if (c) break;                 if (going) {
//     b;                              int here = 1;
//   }                                 a;
//                                     if (c) { going = 0; here = 0; }
//                                     if (here) { b; }
//                                   }
#pragma once

#include "stan/syntax.hpp"

namespace adit::stan {

struct FunctionWithoutJumps {
  int slots = 0;      // with those of flags
  StatementPtr body;  // none: it returns from no loop and few conditions, and stays as it is
  int result = -1;    // where the body leaves what it returns
};

struct WithoutJumps {
  explicit WithoutJumps(const Program& program);
  int slots = 0;  // of the program's own variables, with those of flags
  std::map<const Statement*, StatementPtr> loops;
  std::map<const Function*, FunctionWithoutJumps> functions;
};

}  // namespace adit::stan
