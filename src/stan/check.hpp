// What a program means: types, scopes, functions; fills the checker's fields of the syntax tree.
#pragma once

#include "stan/syntax.hpp"

namespace adit::stan {

// Errors and warnings in the order of the text. Where none is an error every expression has its type, every
// variable its slot and every call its function (or it is a built-in of the table, signature.hpp).
// `allow_undefined`: functions that are declared and not defined are warnings.
std::vector<Message> check(Program& program, bool allow_undefined = false);
// Those that are declared and nowhere defined, in the order of the text.
std::vector<const Function*> undefined_functions(const Program& program);

}  // namespace adit::stan
