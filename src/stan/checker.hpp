// How a program is checked: one walk over the text, with what is in scope at each place.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "stan/syntax.hpp"

namespace adit::stan {

// What a value may depend on. Sizes of blocks' variables are made of data alone; arguments that must be data
// may not depend on parameters, which in generated quantities nothing does.
enum class Level : uint8_t { data, derived, parameter };

// What stands for the type of something that is wrong: no second message is given for it.
inline Type unknown_type() { return {Base::none, -1, {}}; }
inline bool is_unknown(const Type& type) { return type.base == Base::none && type.array < 0; }
inline bool is_void(const Type& type) { return type.is(Base::none); }

// Types of operators and places (check_operators.cpp, check_index.cpp); nothing where there is none.
std::optional<Type> operator_type(Operator op, const Type& left, const Type& right);
std::optional<Type> operator_type(Operator op, const Type& operand);
// Operators that have the name of a function too: add(a, b) is a + b. Nothing where none has the name.
struct OperatorName {
  const char* name;
  Operator op;
  size_t operands;
};
std::span<const OperatorName> operator_names();
const OperatorName* operator_named(const std::string& name);
std::optional<Type> common_type(const Type& a, const Type& b);
bool is_assignable(const Type& to, const Type& from);
std::optional<Type> indexed_type(Type type, const std::vector<bool>& is_multiple);
std::optional<Type> element_type(const Type& type);  // of what a loop goes over

// Types are copied with every value: tuples of thousands would make the work grow with the square of the
// text.
constexpr size_t most_members = 100;
bool is_too_wide(const Type& type);

std::string to_text(const std::vector<Type>& types);  // "(real, vector)"
std::string signature_text(const Function& function);
std::string normalised_name(const std::string& name);  // foo_lupdf is foo_lpdf
bool is_conditional_name(const std::string& name);     // of f(y | a): _lpdf, _lcdf, ...
bool takes_function(const std::string& name);          // reduce_sum, ode_rk45, ...
bool always_returns(const Statement& statement);

struct Variable {
  std::string name;
  Type type;
  Place place;
  Level level = Level::data;
  std::optional<BlockKind> block;  // where it is a variable of a block; else a local one
  bool is_fixed = false;           // loop variables and arguments of functions
  const SizedType* declared = nullptr;
  int slot = -1;
  int loops = 0;  // around its declaration
  bool is_read = false, is_written = false, is_warned = false;
};

class Checker {
 public:
  Checker(Program& program, bool allow_undefined) : program_(program), allow_undefined_(allow_undefined) {}
  std::vector<Message> run();

 private:
  struct Call {  // arguments of a call after their check
    std::vector<Type> types;
    std::vector<Level> levels;
    Level level = Level::data;
    bool failed = false;
  };
  struct Choice {  // of what a name means for some arguments
    bool found = false;
    const Function* function = nullptr;
    Type result;
    std::string problem;
  };

  // check.cpp
  void error(const Place& place, std::string text);
  void warn(const Place& place, std::string text);
  void check_block(BlockKind kind);
  bool is_full() const { return errors_ >= most_errors; }  // nothing more is told
  std::vector<Message> sorted_messages();

  // check_scope.cpp
  Variable* find(const std::string& name);
  Variable* declare(Variable variable);
  void check_name(const std::string& name, const Place& place);
  void open_scope() { scopes_.push_back(scope_names_.size()); }
  void close_scope();
  Level level_of(const Type& type) const;
  void tell_unknown(const std::string& name, const Place& place);
  void warn_unused();

  // check_functions.cpp
  void declare_functions();
  void declare_function(Function& function);
  void check_repeated(Function& function, Function*& other);
  void check_function_name(const Function& function);
  void check_function(Function& function);
  const std::vector<Function*>& functions_of(const std::string& name) const;

  // check_declarations.cpp
  void check_declaration(Declaration& declaration, bool is_local);
  void check_sized(SizedType& type, bool is_local, const std::string& name);
  void check_size(Expression& size, bool is_local, const char* what);
  void check_transform(SizedType& type, bool is_local, const std::string& name);
  void check_bound(Expression& bound, const SizedType& type, const char* what);
  void check_block_types(const SizedType& type, const Place& place);

  // check_statements.cpp
  void check_statement(Statement& statement);
  void check_statements(std::vector<StatementPtr>& statements);
  void check_scoped(StatementPtr& statement);
  void check_choice(Statement& statement);
  void check_loop(Statement& statement);
  void check_return(Statement& statement);
  void check_call_statement(Statement& statement);
  void check_condition(Expression& condition, const char* what);
  void check_integer(Expression& value, const char* what);
  void check_increment(Statement& statement);
  void check_pieces(Statement& statement);

  // check_assignments.cpp
  void check_assignment(Statement& statement);
  void check_target(Target& target, bool is_compound);
  void check_target_place(Target& target, bool is_compound);
  void check_target_variable(Target& target, Variable& variable);
  Type stepped_type(Target& target);
  void check_assigned(const Target& target, const Type& value, const Place& place);
  void check_compound(Statement& statement);
  void check_repeats(const Target& target, std::vector<std::string>& names);
  void collect_written(const Target& target, std::vector<std::string>& names);

  // check_tilde.cpp
  void check_tilde(Statement& statement);
  void check_truncation(Statement& statement, const Call& call);
  void tilde_problem(Statement& statement, const std::string& problem, bool is_known);

  // check_support.cpp
  void warn_support(const Statement& statement);
  void warn_scales(const Statement& statement);
  void warn_jacobian(const Statement& statement);
  bool is_nonlinear(const Expression& value);
  bool has_parameter(const Expression& value);
  const Variable* plain_variable(const Expression& value) const;

  // check_expressions.cpp
  Level check_expression(Expression& value);
  Level check_leaf(Expression& value);
  Level check_step(Expression& value, Level left);
  Level check_variable(Expression& value);
  Level check_binary(Expression& value, Level left);
  Level check_ternary(Expression& value);
  Level check_array(Expression& value);
  Level check_row(Expression& value);
  Level check_tuple(Expression& value);
  Level check_member(Expression& value, Level left);
  Level check_index(Expression& value, Level left);
  std::vector<bool> check_indices(std::vector<Index>& indices, Level& level, bool& failed);
  void check_value(const Expression& value);  // that it is one: no function without result

  // check_calls.cpp
  Level check_call(Expression& value);
  Call check_arguments(std::vector<ExpressionPtr>& arguments);
  Choice choose(const std::string& name, const Call& call);
  Choice choose_own(const std::string& name, const Call& call);
  bool check_operator_call(Expression& value, const Call& call);
  void unknown_function(const Expression& value);
  void check_call_place(const Expression& value);
  void check_unnormalised(const std::string& name, const Place& place);
  void check_data_arguments(const Expression& value, const Function& function, const Call& call, size_t skip);
  void warn_old_name(const Expression& value);

  // check_higher.cpp
  Level check_higher(Expression& value);
  const Function* passed_function(const Expression& value, const std::vector<Type>& wanted,
                                  const Type& result, const Call& call, size_t forwarded);
  bool check_fixed_arguments(const Expression& value, const Call& call, const std::vector<Type>& wanted,
                             const std::vector<size_t>& data_only);

  bool in_block(BlockKind kind) const { return block_ == kind; }
  bool in_function(const char* suffix) const { return function_ && function_->name.ends_with(suffix); }

  static constexpr size_t most_errors = 100, most_warnings = 200;
  Program& program_;
  const bool allow_undefined_;
  std::vector<Message> messages_;
  size_t errors_ = 0, warnings_ = 0;

  std::vector<std::unique_ptr<Variable>> variables_;     // all, in the order of the text
  std::unordered_map<std::string, Variable*> in_scope_;  // no name hides another one
  std::vector<std::string> scope_names_;
  std::vector<size_t> scopes_;
  std::unordered_set<std::string> unknown_names_;  // told once
  std::unordered_map<std::string, std::vector<Function*>> functions_;
  std::unordered_map<std::string, size_t> function_places_;  // among those of its name, by name and types
  int next_slot_ = 0;

  std::optional<BlockKind> block_;  // where the walk is; none: in a function
  Function* function_ = nullptr;
  int loops_ = 0;
  bool in_size_ = false;                      // of a block's variable
  bool in_shape_ = false;                     // rows(x): asks for no value
  std::unordered_set<std::string> assigned_;  // the variables whose places are being read
};

}  // namespace adit::stan
