// What programs use of the language.
#pragma once

#include <set>
#include <string>

#include "stan/syntax.hpp"

namespace adit::test {

struct Uses {
  std::set<std::string> functions;  // built in; densities by their whole names
  std::set<stan::Statement::Kind> statements;
  std::set<stan::Expression::Kind> expressions;
  std::set<stan::Index::Kind> read, written;
  std::set<stan::Operator> operators, compound;
  std::set<stan::Transform::Kind> transforms;  // of parameters
  std::set<std::string> truncations;           // "low", "high", "both"
};

// Adds what a checked program uses.
void add_uses(const stan::Program& program, Uses& uses);

}  // namespace adit::test
