// Copies of a program's tree, for what writes parts of it in another way.
#pragma once

#include "stan/syntax.hpp"

namespace adit::stan {

ExpressionPtr copy_of(const Expression& expression);
// Without what is inside of it: body, otherwise and statements stay empty.
StatementPtr shell_of(const Statement& statement);
StatementPtr copy_of(const Statement& statement);

}  // namespace adit::stan
