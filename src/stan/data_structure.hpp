// What a vector or matrix must be as a whole: a simplex, ordered, positive definite ...
#pragma once

#include "stan/data_checks.hpp"

namespace adit::stan {

// The value has the wanted shape (or no elements).
void check_structure(const std::string& name, const DataValue& value, const Wanted& wanted);

// Matrices that are computed: symmetric but for rounding.
void check_symmetry(const std::string& name, const DataValue& value);
void check_semidefinite(const std::string& name, const DataValue& value);
// A lower triangular matrix.
void check_triangle(const std::string& name, const DataValue& value);

[[noreturn]] void refuse_data(const std::string& name, const std::string& expected, const std::string& found);
// "[2, 3]" of an element in row-major order; "" of a number.
std::string index_in_words(const Shape& shape, int64_t element);

}  // namespace adit::stan
