// The words of the rows' texts and what fits them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stan/signature.hpp"

namespace adit::stan {

struct Word {
  enum class Kind : uint8_t {
    plain,
    any_axes,
    ints,
    reals,
    vectors,
    line,
    list,
    numbers,
    dense,
    scalars,
    integers,
    any,
    array,
    same,
    function,
    rest,
    elementwise,
    array_of_first,
    reals_of_rng,
    ints_of_rng,
    vectors_of_rng
  };
  Kind kind = Kind::plain;
  Type type;     // plain; of any_axes its base
  int axes = 0;  // of array_of_first
};
// Nothing for a text that is no word.
std::optional<Word> word_of(std::string_view text);

struct Row {
  Signature signature;
  Word result;
  std::vector<Word> arguments;
  std::string written;  // "(reals | array[] real, reals)"
};
std::optional<Row> row_of(const Signature& signature);

struct Match {
  Type result;
  int promotions = 0;  // from integers to reals
};
std::optional<Match> match(const Row& row, const std::vector<Type>& arguments);

// Promotions from one type to another, nothing where it does not go.
std::optional<int> promotions(const Type& from, const Type& to);

}  // namespace adit::stan
