// What statements read and write, by the syntax alone.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>

#include "stan/syntax.hpp"

namespace adit::stan {

// Of one variable in a list of statements.
struct Use {
  int writes = 0, sums = 0, indexed = 0;  // assignments; those that only add; those to a part
  int reads = 0;                          // outside of what makes an assignment a sum
};
using Uses = std::map<int, Use>;
Uses uses_of(const Statement& statement);

// Expressions of a statement, each with those inside of it, without those of statements inside of it.
void each_own_expression(const Statement& statement, const std::function<void(const Expression&)>& on);

// x += e, x -= e, x = x + e, x = e + x, x = x - e: what is added.
struct Sum {
  bool whole = false;  // the whole right-hand side
  const Expression* part = nullptr;
  bool negative = false;
};
std::optional<Sum> sum_of(const Statement& assignment);

std::set<int> written_slots(const Statement& statement, std::span<const StatementPtr> more = {});
std::set<int> declared_slots(const Statement& statement);  // with variables of loops
bool may_return(const Statement& statement);
bool has_break(const Statement& body);              // of this loop: break or continue
bool adds_terms(const Statement& statement);        // of either kind
bool adds_jacobians(const Statement& statement);    // jacobian +=, functions that end in _jacobian
bool adds_other_terms(const Statement& statement);  // target +=, ~, functions that end in _lp
bool draws_numbers(const Statement& statement);
bool has_solver(const Statement& statement);  // differential ones, also by the program's functions
// Every variable that is read.
std::set<int> read_slots(const Statement& statement);

}  // namespace adit::stan
