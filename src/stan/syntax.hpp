// What a program is made of after parsing. The checker (check.hpp) fills in types, slots and functions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stan/source.hpp"
#include "stan/type.hpp"

namespace adit::stan {

struct Expression;
struct Statement;
struct Function;
using ExpressionPtr = std::unique_ptr<Expression>;
using StatementPtr = std::unique_ptr<Statement>;

enum class Operator : uint8_t {
  add,
  subtract,
  multiply,
  divide,
  integer_divide,
  modulo,
  left_divide,
  element_multiply,
  element_divide,
  power,
  element_power,
  logical_or,
  logical_and,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  logical_not,
  plus,
  minus,
  transpose
};
const char* to_text(Operator op);  // "+", ".*", "'"

// One place between brackets.
struct Index {
  enum class Kind : uint8_t {
    all,
    single,
    from,
    to,
    between
  };  // [:] [i] [a:] [:b] [a:b]; single may be an array
  Kind kind = Kind::all;
  ExpressionPtr low, high;  // single has low alone
  Place place;
};

// Trees may be as deep as a text is long: they go without recursion.
struct Expression {
  Expression() = default;
  Expression(Expression&&) = default;
  Expression& operator=(Expression&&) = default;
  ~Expression();

  enum class Kind : uint8_t {
    integer,    // integer
    real,       // real
    imaginary,  // 2i; refused by the checker
    variable,   // name
    call,       // name(parts); with_bar: f(y | a, b)
    binary,     // parts[0] op parts[1]
    prefix,     // op parts[0]
    postfix,    // parts[0]'
    ternary,    // parts[0] ? parts[1] : parts[2]
    index,      // parts[0][indices]
    array,      // {parts}
    row,        // [parts]: a row vector, or a matrix of row vectors
    tuple,      // (parts)
    member,     // parts[0].integer, counted from 1
    group,      // (parts[0])
    target      // target()
  };
  Kind kind = Kind::integer;
  Place place;
  std::string name;  // of a variable or function; of a number: as it was written
  Place name_place;
  int64_t integer = 0;
  double real = 0;
  Operator op = Operator::add;
  bool with_bar = false;
  std::vector<ExpressionPtr> parts;
  std::vector<Index> indices;

  // By the checker.
  Type type;
  int slot = -1;                       // of a variable: its place among all of the program or function
  const Function* function = nullptr;  // of a call to a function of the program; none: a built-in
};

struct Transform {
  enum class Kind : uint8_t {
    none,
    lower,
    upper,
    lower_upper,
    offset,
    multiplier,
    offset_multiplier,
    ordered,
    positive_ordered,
    simplex,
    unit_vector,
    sum_to_zero_vector,
    sum_to_zero_matrix,
    cholesky_factor_corr,
    cholesky_factor_cov,
    corr_matrix,
    cov_matrix,
    column_stochastic_matrix,
    row_stochastic_matrix
  };
  Kind kind = Kind::none;
  ExpressionPtr first, second;  // lower or offset; upper or multiplier (each where it is given)
};

// A type with sizes, as declarations have it. simplex[K] is a vector of size K with a transform.
struct SizedType {
  Base base = Base::real;
  std::vector<ExpressionPtr> array_sizes, sizes;
  Transform transform;
  std::vector<SizedType> members;  // of a tuple
  Place place;
};
Type unsized(const SizedType& type);

struct Declaration {
  SizedType type;
  std::string name;
  Place name_place;
  ExpressionPtr value;  // none: uninitialised
  int slot = -1;        // by the checker
};

// What an assignment writes: variable, members of tuples and places, from left to right; or a tuple of them.
struct Target {
  std::string name;
  Place place;
  struct Step {
    std::vector<Index> indices;  // empty: a member
    int64_t member = 0;
  };
  std::vector<Step> steps;
  std::vector<Target> parts;  // (a, b) = ...; then the rest is empty
  // By the checker.
  int slot = -1;
  Type type;           // of what is written
  Type variable_type;  // of the whole variable
};

struct Truncation {
  bool present = false;
  ExpressionPtr low, high;  // none: open
};

struct Statement {
  Statement() = default;
  Statement(Statement&&) = default;
  Statement& operator=(Statement&&) = default;
  ~Statement();

  enum class Kind : uint8_t {
    declare,     // declarations: `real a, b = 2;` has two
    assign,      // target (op)= value; compound: x op= value
    increment,   // target += value
    jacobian,    // jacobian += value
    tilde,       // value ~ name(arguments) truncation
    call,        // a function that returns nothing: value is the call
    for_range,   // for (name in low:high) body
    for_each,    // for (name in value) body
    while_loop,  // while (value) body
    choice,      // if (value) body else otherwise
    block,       // { statements }
    profile,     // profile("name") { statements }
    break_loop,
    continue_loop,
    give,  // return value; value may be none
    print,
    reject,
    fatal_error,
    nothing  // ;
  };
  struct Piece {  // of print and reject: a text or an expression
    std::string text;
    ExpressionPtr value;
  };
  Kind kind = Kind::nothing;
  Place place;
  std::vector<Declaration> declarations;
  Target target;
  std::optional<Operator> compound;
  std::string name;  // of a distribution (without suffix), a loop variable, a profile
  Place name_place;
  int slot = -1;  // of the loop variable, by the checker
  ExpressionPtr value, low, high;
  std::vector<ExpressionPtr> arguments;
  Truncation truncation;
  std::vector<Piece> pieces;
  StatementPtr body, otherwise;
  std::vector<StatementPtr> statements;
  // By the checker: of a tilde statement with a distribution of the program's own.
  const Function* function = nullptr;
};

struct Argument {
  Type type;
  bool is_data = false;
  std::string name;
  Place place;
  int slot = -1;
};
struct Function {
  Type result;
  std::string name;
  Place place, name_place;
  std::vector<Argument> arguments;
  StatementPtr body;  // none: a forward declaration
  int slots = 0;      // by the checker: variables in all, arguments first
};

enum class BlockKind : uint8_t {
  data,
  transformed_data,
  parameters,
  transformed_parameters,
  model,
  generated_quantities
};
constexpr int block_kinds = 6;
const char* to_text(BlockKind kind);  // "transformed data"

struct Program;
// Does work that walks over the trees of a program, on a stack that is deep enough.
void walk_deep(const Program& program, const std::function<void()>& work);
// Whether there is room for another such walk on top of the one at hand.
bool has_stack_for(const Program& program);

struct Block {
  bool present = false;
  Place place;
  std::vector<StatementPtr> statements;
};

// A comment, for the formatter.
struct Comment {
  Place place;
  std::string text;  // with its marks
};

struct Program {
  std::string name;  // of the file, without folder and ending
  Sources sources;
  std::vector<std::unique_ptr<Function>> functions;
  bool has_functions_block = false;
  Block blocks[block_kinds];
  std::vector<Comment> comments;
  int slots = 0;     // by the checker: variables of all blocks
  size_t depth = 0;  // levels that a walk over its trees goes down at most
  const Block& block(BlockKind kind) const { return blocks[static_cast<int>(kind)]; }
};

}  // namespace adit::stan
