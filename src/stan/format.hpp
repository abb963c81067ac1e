// A program as text, in one style: two spaces, lines of at most 80 columns where they can be broken.
#pragma once

#include <string>

#include "stan/syntax.hpp"

namespace adit::stan {

// Of a program that was parsed without errors. Comments stay, old forms become new ones, and lines of
// #include stay where they stand between statements; where one stands elsewhere, all files are written out.
std::string format(const Program& program);

}  // namespace adit::stan
