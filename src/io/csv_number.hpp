// What a field says if it is a number.
#pragma once

#include <cstdint>
#include <string_view>

namespace adit::table {

struct Number {
  enum class Form : uint8_t {
    none,     // no number
    whole,    // written as a whole number; i64 holds it
    real,     // any other; the nearest f64
    inexact,  // written as a whole number that neither i64 nor f64 holds
    beyond    // not 0, yet f64 has only 0 or infinity for it
  };
  Form form = Form::none;
  int64_t whole = 0;
  double real = 0;
};
// Of the whole text, in any locale. Infinities and NaN are no numbers here.
Number parse_number(std::string_view text);

// Whether f64 holds it.
bool is_exact(int64_t value);

}  // namespace adit::table
