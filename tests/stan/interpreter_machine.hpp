// Runs statements and evaluates expressions of a program, one after another as they stand.
#pragma once

#include <functional>
#include <map>

#include "interpreter_value.hpp"
#include "stan/syntax.hpp"

namespace adit::stan::reference {

// A place between brackets, evaluated: one position, or several (all counted from 0).
struct Place1 {
  bool is_single = true;
  int64_t position = 0;
  std::vector<int64_t> positions;
};
// What is asked of an axis of `size` elements.
using Selector = std::function<Place1(int64_t size)>;
Value indexed(const Value& value, const std::vector<Selector>& selectors, size_t first = 0);
void assign_indexed(Value& target, const std::vector<Selector>& selectors, size_t first, const Value& value);
// target = value, where kinds and sizes agree.
void store(Value& target, Value value);

Value apply(Operator op, const Value& a, const Value& b);
Value apply(Operator op, const Value& a);

class Machine {
 public:
  explicit Machine(const Program& program, const Scope* constants = nullptr);

  Value evaluate(const Expression& expression);
  enum class Flow : uint8_t { next, broken, continued, returned };
  Flow run(const Statement& statement);
  void run(const Block& block);

  // Functions of the program by name and by what they are given; built-in ones else.
  Value call(const std::string& name, Values arguments);
  bool has_function(const std::string& name) const;

  // A value of a declaration, not initialised.
  Value fresh(const SizedType& type);
  Value* find(const std::string& name);
  const Value& lookup(const std::string& name);
  void declare(const std::string& name, Value value);
  Scope& top() { return frames_.back().back(); }
  const Program& program() const { return program_; }

  Number target;  // what has been added up

 private:
  using Frame = std::vector<Scope>;
  const Program& program_;
  const Scope* constants_;
  std::vector<Frame> frames_;
  std::multimap<std::string, const Function*> functions_;
  Value result_;  // of the function that returns

  const Value* path(const Expression& expression);
  Value evaluate_plain(const Expression& expression);
  Value evaluate_call(const Expression& expression);
  Value evaluate_row(const Expression& expression);
  Value evaluate_array(const Expression& expression);
  std::vector<Selector> selectors(const std::vector<Index>& indices);

  Flow run_all(const std::vector<StatementPtr>& statements);
  Flow run_scoped(const Statement& statement);
  Flow run_loop(const Statement& statement);
  void run_declare(const Statement& statement);
  void run_assign(const Statement& statement);
  void assign(const Target& target, const std::optional<Operator>& compound, Value value);
  void run_tilde(const Statement& statement);
  Number truncation(const Statement& statement, const Value& y, const Values& parameters);

  const Function* chosen(const std::string& name, const Values& arguments) const;
  Value invoke(const Function& function, Values arguments);
};

// The bounds of a part: element i of a bound that is a container, and a scalar as it is.
struct Bounds {
  Value first, second;
  static Value part(const Value& bound, size_t i) {
    if (bound.array > 0) return bound.parts.at(i);
    return bound.is_container() ? real(bound.numbers.at(i)) : bound;
  }
  Bounds array_part(size_t i) const {
    return {first.array > 0 ? part(first, i) : first, second.array > 0 ? part(second, i) : second};
  }
  Bounds element(size_t i) const { return {part(first, i), part(second, i)}; }
};
Bounds bounds_of(Machine& machine, const Transform& transform);

// interpreter_constrain.cpp: a parameter from unconstrained numbers. Adds the logarithm of the Jacobian.
struct Stream {
  Numbers numbers;
  size_t next = 0;
  Number take();
};
Value constrained(Machine& machine, const SizedType& type, Stream& stream, Number& jacobian);
int64_t unconstrained_size(Machine& machine, const SizedType& type);
// interpreter_check.cpp. Nothing where the value is as its declaration says.
std::string broken_constraint(Machine& machine, const SizedType& type, const Value& value);

// interpreter_higher.cpp: functions of functions (ode_rk45, reduce_sum, ...).
bool is_higher_order(const std::string& name);
Value call_higher_order(Machine& machine, const std::string& name, const std::string& function,
                        Values arguments);

}  // namespace adit::stan::reference
