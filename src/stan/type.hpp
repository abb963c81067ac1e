// Types of the Stan language, without sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace adit::stan {

enum class Base : uint8_t { integer, real, complex, vector, row_vector, matrix, tuple, none };

struct Type {
  Base base = Base::none;     // none: of a function that returns nothing
  int array = 0;              // axes of the array around it
  std::vector<Type> members;  // of a tuple

  bool operator==(const Type&) const = default;
  bool is(Base other) const { return array == 0 && base == other; }
  bool is_scalar() const { return is(Base::integer) || is(Base::real); }
  // Axes of the whole: an array of matrices has its own and two.
  int rank() const {
    return array + (base == Base::matrix ? 2 : base == Base::vector || base == Base::row_vector ? 1 : 0);
  }
  bool is_integer() const { return base == Base::integer; }  // or an array of them
};

inline Type scalar_type(Base base) { return {base, 0, {}}; }
inline Type array_of(Type type, int axes = 1) {
  type.array += axes;
  return type;
}
// "array[,] real", "tuple(int, vector)", "void".
std::string to_text(const Type& type);

}  // namespace adit::stan
