// Expressions and types as words of a layout.
#pragma once

#include "stan/format_layout.hpp"
#include "stan/syntax.hpp"

namespace adit::stan {

void write(Layout& layout, const Expression* expression);  // none: nothing
void write(Layout& layout, const SizedType& type);
void write(Layout& layout, const Target& target);
void write_list(Layout& layout, const std::vector<ExpressionPtr>& list);

}  // namespace adit::stan
