// Standard output and standard error. Printing never throws: whether standard output took everything is asked
// once, at the end.
#pragma once

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include <adit/text.hpp>

namespace adit::cli {

// Descriptors 0, 1 and 2 are open from here on: a file that is opened later must not get one of them, since
// words for standard error would go into it.
void occupy_standard_descriptors();

// As it is.
void write_out(std::string_view text);
void write_err(std::string_view text);  // after what was printed on standard output

// As a terminal may be sent it: names in it may hold anything.
template <class... T>
void print_out(fmt::format_string<T...> form, T&&... values) {
  write_out(printable_lines(fmt::format(form, std::forward<T>(values)...)));
}
template <class... T>
void print_err(fmt::format_string<T...> form, T&&... values) {
  write_err(printable_lines(fmt::format(form, std::forward<T>(values)...)));
}

// One document. Bytes that are no UTF-8 become U+FFFD: JSON has no others.
void print_json(const nlohmann::ordered_json& document);

// Why standard output has not taken all that was printed; "": it has.
std::string output_fault();

// Whether escapes that move the cursor have a meaning on standard error.
bool has_terminal();

}  // namespace adit::cli
