// What the builders of random numbers share.
#pragma once

#include <string_view>

#include <adit/random.hpp>

namespace adit::random {

void expect_key(std::string_view op, const Tensor& key);
// One word of a key, a scalar.
Tensor word_of(const Tensor& key, int word);

}  // namespace adit::random
