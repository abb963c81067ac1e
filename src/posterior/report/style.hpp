// The looks of the page.
#pragma once

#include <string_view>

namespace adit::report {

extern const std::string_view style_sheet;
// Shows the filter of the table and makes it work; without scripts the page lacks only that.
extern const std::string_view filter_script;

}  // namespace adit::report
