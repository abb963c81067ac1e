// Calls: functions of the program are run where they are called; built-in ones stand in functions/table.hpp.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numbers>
#include <unordered_map>

#include <adit/random.hpp>

#include "stan/checker.hpp"
#include "stan/domains.hpp"
#include "stan/evaluator.hpp"
#include "stan/functions/formulas.hpp"
#include "stan/functions/table.hpp"
#include "stan/signature.hpp"
#include "stan/uses.hpp"

namespace adit::stan {

namespace {

constexpr int most_calls = 100'000;

template <class Row>
const Row* row_named(std::span<const Row> rows, const std::string& name) {
  static const std::unordered_map<std::string, const Row*> index = [&] {
    std::unordered_map<std::string, const Row*> found;
    for (const Row& row : rows) found.emplace(row.name, &row);
    return found;
  }();
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

// What a function's result is by itself: a simplex, a symmetric matrix.
char promise_of(const std::string& name, std::span<const Value> arguments) {
  const auto is_symmetric = [&](size_t i) { return promises(arguments[i].promise, 'y'); };
  if (name == "softmax") return 's';
  if (name.starts_with("gp_") || name == "cov_exp_quad" || name == "tcrossprod" || name == "crossprod" ||
      name == "multiply_lower_tri_self_transpose" || name == "diag_matrix" ||
      name == "symmetrize_from_lower_tri")
    return 'y';
  if ((name == "quad_form_diag" || name == "add_diag" || name == "inverse_spd") && is_symmetric(0))
    return 'y';
  return name == "cholesky_decompose" ? 'L' : '.';
}

bool cut_end(std::string& name, std::string_view ending) {
  if (!name.ends_with(ending)) return false;
  name.resize(name.size() - ending.size());
  return true;
}

// log P(a < X <= b) by the tail in which both are: where all below a is near 1, differences of it have no
// digits.
Tensor log_mass_between(const UnivariateDensity& row, const Tensor& a, const Tensor& b, const Tensor* p) {
  const Tensor below_a = row.log_cdf(a, p), below_b = row.log_cdf(b, p);
  const Tensor above_a = row.log_ccdf(a, p), above_b = row.log_ccdf(b, p);
  const Tensor is_upper = stop_gradient(below_a) > full({}, -std::numbers::ln2, DType::f64);
  return log_diff_exp(select(is_upper, above_a, below_b), select(is_upper, above_b, below_a));
}

// How precise Stan's derivatives of a Wiener process are to be stands last, where it stands.
void drop_precision(bool is_cdf, std::vector<Value>& arguments) {
  if (arguments.size() == 9 || arguments.size() == (is_cdf ? 6U : 7U)) arguments.pop_back();
}

Shape broadcast_shape(const Tensor* tensors, size_t count) {
  Shape shape;
  for (size_t i = 0; i < count; ++i) {
    const Shape& other = tensors[i].shape();
    for (int k = 1; k <= other.size(); ++k) {
      if (k > shape.size()) shape.insert(0, 1);
      int64_t& extent = shape[shape.size() - k];
      extent = std::max(extent, other[other.size() - k]);
    }
  }
  return shape;
}

}  // namespace

Value Evaluator::call_function(const Function& function, std::vector<Value> arguments, const Place& place) {
  if (!function.body) fail(place, fmt::format("the function {} is declared but not defined", function.name));
  if (depth_ >= most_calls || !has_stack_for(program_))
    fail(place, fmt::format("expected calls inside of calls to end by what follows from data, got {} of them",
                            depth_));
  const FunctionWithoutJumps& other = without_jumps_.functions.at(&function);
  const bool plain = is_data_only && levels_.top() == 0 && masks_.empty() && !draws_numbers(*function.body);
  const bool as_it_stands = plain || !other.body;
  Frame frame(static_cast<size_t>(other.slots + scratch_slots));
  for (size_t i = 0; i < arguments.size(); ++i) {
    Stored& variable = frame[static_cast<size_t>(function.arguments[i].slot)];
    variable.value = promoted(arguments[i], function.arguments[i].type);
    variable.home = levels_.top();
  }
  if (other.result >= 0) {
    Stored& result = frame[static_cast<size_t>(other.result)];
    result.value.type = function.result;
    result.home = levels_.top();
    if (function.result.is_scalar()) result.value = unset_like(known_value(function.result, {}, {}));
  }
  struct Guard {  // also where a loop begins again in another way
    Evaluator& evaluator;
    Frame* frame;
    Rest rests;
    std::vector<Witness>* witnesses;
    ~Guard() {
      evaluator.frame_ = frame, --evaluator.depth_;
      evaluator.witnesses_ = witnesses;
      evaluator.rests_ = std::move(rests);
    }
  } guard{*this, frame_, std::exchange(rests_, {}), std::exchange(witnesses_, nullptr)};
  ++depth_;
  frame_ = &frame;
  returned_ = {};
  const Flow flow = execute(as_it_stands ? *function.body : *other.body);
  if (flow != Flow::returned && function.result.base != Base::none)
    fail(place, fmt::format("the function {} ended without a return", function.name));
  return function.result.base == Base::none ? Value{} : promoted(returned_, function.result);
}

Tensor Evaluator::next_key() {
  if (!key) throw Error(ErrorKind::internal, "[stan] key: expected one for random numbers, got none");
  return random::fold_in(key, ++draws_);
}

// With a lane for each, and where the key is: that of a while loop in a step is none outside of the step.
Value Evaluator::where_drawn(const Value& value) {
  const int level = levels_.top();
  const Value now = at_lanes(value, level);
  if (now.inside >= key_inside_) return now;
  bool in_lanes = false;
  return traced_value(now.type, now.shape, tensor_at(now, level, key_inside_, in_lanes), level, key_inside_);
}

// For numbers that are drawn in the step of a recurrence: each step has its own.
Tensor Evaluator::key_of_step(const Tensor& own_key, int inside) {
  if (inside == 0) return own_key;
  std::vector<double> steps;
  for (int64_t lane = 0; lane < levels_.at(inside).total; ++lane)
    steps.push_back(static_cast<double>(levels_.step_of(lane, inside)));
  bool in_lanes = false;
  const Value number = known_value(scalar_type(Base::integer), {}, std::move(steps), inside);
  Tensor step = as_type(tensor_at(number, inside, inside, in_lanes), DType::i64);
  if (in_lanes) step = reshape(slice(step, {0}, {1}), {});
  return random::fold_in(own_key, step);
}

// Of data alone, in transformed data: numbers again.
Value Evaluator::settled(const Value& value) {
  if (!is_data_only || value.is_known()) return value;
  return known_value(value.type, value.shape, as_type(value.tensor, DType::f64).to_vector<double>(),
                     value.level);
}

Value Evaluator::call_builtin(std::string name, std::vector<Value>& arguments, const Type& type,
                              const Place& place) {
  for (const auto& [ending, other] : {std::pair{"_lupdf", "_lpdf"}, std::pair{"_lupmf", "_lpmf"}})
    if (cut_end(name, ending)) name += other;
  if (cut_end(name, "_jacobian")) return with_jacobian(name, arguments, type, place);
  if (name == "modulus") return operate(Operator::modulo, arguments[0], arguments[1], place);
  expect_domains(name, arguments, place);
  Value value = computed(name, arguments, type, place);
  if (type.is_integer()) expect_integers(value, place);
  if (!value.is_known()) value.promise = promise_of(name, arguments);
  return value;
}

Value Evaluator::computed(const std::string& name, std::vector<Value>& arguments, const Type& type,
                          const Place& place) {
  const auto own = structural().find(name);
  if (own != structural().end()) return (this->*own->second)(name, arguments, type, place);
  const auto apply = [&](const auto* row, auto number, auto tensor) {
    std::function<double(const double*)> of_numbers;
    if (row->number) of_numbers = number;
    return settled(elementwise(type, arguments, place, of_numbers, tensor));
  };
  const size_t count = arguments.size();
  if (count == 1 && name == "log_sum_exp")
    if (const std::optional<Value> total = sum_of_pieces(name, arguments[0], place)) return *total;
  if (count == 1)
    if (const auto* row = row_named(unary_functions(), name))
      return apply(
          row, [row](const double* x) { return row->number(x[0]); },
          [row](const Tensor* x) { return row->tensor(x[0]); });
  const bool is_reduction = name == "log_mix" && count == 2;
  if (count == 2 && !is_reduction)
    if (const auto* row = row_named(binary_functions(), name))
      return apply(
          row, [row](const double* x) { return row->number(x[0], x[1]); },
          [row](const Tensor* x) { return row->tensor(x[0], x[1]); });
  if (count == 3)
    if (const auto* row = row_named(ternary_functions(), name))
      return apply(
          row, [row](const double* x) { return row->number(x[0], x[1], x[2]); },
          [row](const Tensor* x) { return row->tensor(x[0], x[1], x[2]); });
  bool found = false;
  Value value = density(name, arguments, place, found);
  if (!found) value = draw(name, arguments, type, place, found);
  if (found) return settled(value);
  return general(name, arguments, type, place);
}

// A map of numbers to where they may lie, which adds the logarithm of its Jacobian to the target.
Value Evaluator::with_jacobian(const std::string& stem, std::vector<Value>& arguments, const Type& type,
                               const Place& place) {
  std::vector<Value> again = arguments;
  const Value value = call_builtin(stem + "_constrain", arguments, type, place);
  const bool is_elementwise = row_named(binary_functions(), stem + "_constrain") ||
                              row_named(ternary_functions(), stem + "_constrain");
  const Type of_log = is_elementwise ? type : scalar_type(Base::real);
  add_term(call_builtin(stem + "_log_determinant", again, of_log, place),
           {.place = place, .value = {}, .is_jacobian = true});
  return value;
}

Value Evaluator::density(const std::string& full_name, std::vector<Value>& arguments, const Place& place,
                         bool& found) {
  std::string name = full_name;
  cut_end(name, "_unnorm");  // as Stan names those of a process that may never arrive
  enum { density_of, cdf, log_cdf, log_ccdf } what = density_of;
  if (cut_end(name, "_lpdf") || cut_end(name, "_lpmf") || cut_end(name, "_log"))
    what = density_of;
  else if (cut_end(name, "_lccdf"))
    what = log_ccdf;
  else if (cut_end(name, "_lcdf"))
    what = log_cdf;
  else if (cut_end(name, "_cdf"))
    what = cdf;
  else
    return {};
  if (name == "wiener") drop_precision(what != density_of, arguments);
  const UnivariateDensity* row = arguments.empty() ? nullptr : univariate_named(name, arguments.size() - 1);
  if (!row) return {};
  const auto compute = what == density_of ? row->log_density
                       : what == log_ccdf ? row->log_ccdf
                                          : row->log_cdf;
  if (!compute) fail(place, fmt::format("{} is not supported yet", full_name));
  found = true;
  Type type = scalar_type(Base::real);
  for (const Value& argument : arguments)
    if (argument.shape.size() > 0) type = array_of(scalar_type(Base::real), argument.shape.size());
  const Value each =
      elementwise(type, arguments, place, nullptr, [&](const Tensor* x) { return compute(x[0], x + 1); });
  Tensor total = total_of(each);
  if (what == cdf) total = exp(total);
  return traced_value(scalar_type(Base::real), {}, total, each.level, each.inside);
}

Value Evaluator::draw(const std::string& full_name, std::vector<Value>& arguments, const Type& type,
                      const Place& place, bool& found) {
  std::string name = full_name;
  if (!cut_end(name, "_rng")) return {};
  const UnivariateDensity* row = univariate_named(name, arguments.size());
  if (!row || !row->draw) return {};
  found = true;
  // A lane has numbers of its own, also where all have the same parameters.
  std::vector<Value> operands = arguments;
  operands.push_back(where_drawn(known_real(0)));
  int inside = 0;
  for (Value& operand : operands) operand = whole(operand), inside = std::max(inside, operand.inside);
  const Tensor own_key = key_of_step(next_key(), inside);
  return elementwise(type, operands, place, nullptr, [&](const Tensor* x) {
    return row->draw(own_key, x, broadcast_shape(x, operands.size()));
  });
}

Value Evaluator::general(const std::string& name, std::vector<Value>& values, const Type& type,
                         const Place& place) {
  const GeneralFunction* row = row_named(general_functions(), name);
  if (!row) fail(place, fmt::format("the function {} is not supported yet", name));
  for (Value& value : values) value = whole(value);
  const bool draws = name.ends_with("_rng");
  if (draws && levels_.top() > 0) lift_smallest(values);
  const Met met = meet(values);
  Arguments arguments;
  arguments.lanes = met.lanes;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool integer = values[i].type.is_integer();
    arguments.tensors.push_back(integer ? as_type(met.tensors[i], DType::i64) : met.tensors[i]);
    arguments.types.push_back(values[i].type);
    arguments.in_lanes.push_back(met.in_lanes[i]);
  }
  if (draws) arguments.key = key_of_step(next_key(), met.inside);
  Tensor result;
  try {
    result = as_type(row->compute(arguments), DType::f64);
  } catch (const Error& error) {
    const std::string text = error.what();
    const size_t end = text.find(']');
    const bool is_own =
        text.starts_with('[') && end != std::string::npos && name.starts_with(text.substr(1, end - 1));
    if (is_own) fail(place, fmt::format("{}: {}", name, text));
    if (text.starts_with("[eval]"))
      fail(place,
           fmt::format("{}: expected arguments that follow from data alone, got one of parameters", name));
    std::string sizes;
    for (const Value& value : values) sizes += (sizes.empty() ? "" : ", ") + sizes_text(value);
    fail(place, fmt::format("{}: expected arguments whose sizes agree, got {}", name, sizes));
  }
  Shape shape = result.shape();
  if (arguments.lanes > 0) {
    if (shape.empty() || shape[0] != arguments.lanes || shape.size() != type.rank() + 1)
      fail(place, fmt::format("{}: expected a result for {} rounds, got {}", name, arguments.lanes,
                              to_string(shape)));
    shape.erase(0);
  }
  return settled(traced_value(type, shape, result, met.level, met.inside));
}

// A lane draws numbers of its own, also where all have the same arguments.
void Evaluator::lift_smallest(std::vector<Value>& values) {
  Value* smallest = nullptr;
  for (Value& value : values)
    if (!value.type.is_integer() && (!smallest || value.size() < smallest->size())) smallest = &value;
  if (!smallest) smallest = &values.at(0);
  *smallest = where_drawn(*smallest);
}

void Evaluator::tilde(const Statement& s) {
  if (!has_density) return;
  std::vector<Value> arguments;
  try {
    arguments.push_back(evaluate(*s.value));
    for (const auto& argument : s.arguments) {
      arguments.push_back(evaluate(*argument));
      if (witnesses_) witness(*argument, arguments.back());
    }
  } catch (const Differs&) {
    if (tilde_by_elements(s)) return;
    if (!s.function || s.truncation.present) throw;
    std::vector<const Expression*> all{s.value.get()};
    for (const auto& argument : s.arguments) all.push_back(argument.get());
    return add_term(call_own(*s.function, all, s.place), {.place = s.place, .value = {}});
  }
  const std::vector<Witness> used = told_witnesses();
  if (observe(s, arguments, used)) return;
  const bool discrete = s.value->type.is_integer();
  Value term;
  if (s.function) {
    term = call_function(*s.function, arguments, s.place);
  } else {
    std::vector<Value> copy = arguments;
    term = call_builtin(s.name + (discrete && is_builtin(s.name + "_lpmf") ? "_lpmf" : "_lpdf"), copy,
                        scalar_type(Base::real), s.place);
  }
  add_term(term, {.place = s.place, .value = {}, .uses = used});
  if (s.truncation.present) add_truncation(s, arguments);
}

// The same for a distribution of the program's own: of its functions that end in _lcdf and _lccdf.
void Evaluator::add_own_truncation(const Statement& s, const std::vector<Value>& arguments, const Value& low,
                                   const Value& high) {
  const auto at_bound = [&](const Value& bound, const char* ending) {
    std::vector<Value> own = arguments;
    own[0] = bound;
    for (const auto& function : program_.functions)
      if (function->name == s.name + ending && function->body && function->arguments.size() == own.size())
        return call_function(*function, own, s.place);
    fail(s.place, fmt::format("expected a function {}{} for this truncation, got none", s.name, ending));
  };
  const bool has_low = s.truncation.low != nullptr, has_high = s.truncation.high != nullptr;
  for (const Value& argument : arguments)
    if (argument.shape.size() > 0)
      fail(s.place, "expected numbers beside a truncation of the program's own, got lists");
  Value mass;
  if (has_low && has_high) {
    std::vector<Value> both{at_bound(high, "_lcdf"), at_bound(low, "_lcdf")};
    mass = call_builtin("log_diff_exp", both, scalar_type(Base::real), s.place);
  } else {
    mass = has_low ? at_bound(low, "_lccdf") : at_bound(high, "_lcdf");
  }
  Value inside = known_integer(1);
  if (has_low) inside = operate(Operator::greater_equal, arguments[0], low, s.place);
  if (has_high)
    inside = operate(Operator::logical_and, inside,
                     operate(Operator::less_equal, arguments[0], high, s.place), s.place);
  const Value none = known_real(-INFINITY), less = operate(Operator::subtract, known_real(0), mass, s.place);
  add_term(chosen(inside, less, none), {.place = s.place, .value = {}});
}

// Less the logarithm of the mass between the bounds, once for each number.
void Evaluator::add_truncation(const Statement& s, const std::vector<Value>& arguments) {
  const Value low = s.truncation.low ? evaluate(*s.truncation.low) : Value{};
  const Value high = s.truncation.high ? evaluate(*s.truncation.high) : Value{};
  const bool discrete = s.value->type.is_integer();
  const bool has_low = s.truncation.low != nullptr, has_high = s.truncation.high != nullptr;
  if (!has_low && !has_high) return;
  if (s.function) return add_own_truncation(s, arguments, low, high);
  const UnivariateDensity* row = univariate_named(s.name, arguments.size() - 1);
  if (!row || !row->log_cdf || !row->log_ccdf)
    fail(s.place, fmt::format("the distribution {} cannot be truncated here", s.name));
  // For each element of the left side: arguments of its size.
  std::vector<Value> operands{arguments[0]};
  if (has_low) operands.push_back(low);
  if (has_high) operands.push_back(high);
  for (size_t i = 1; i < arguments.size(); ++i) operands.push_back(arguments[i]);
  Type type = scalar_type(Base::real);
  for (const Value& operand : operands)
    if (operand.shape.size() > 0) type = array_of(scalar_type(Base::real), operand.shape.size());
  const Value each = elementwise(type, operands, s.place, nullptr, [&](const Tensor* x) {
    const Tensor* p = x + 1 + has_low + has_high;
    const Tensor a = has_low ? (discrete ? x[1] - 1.0 : x[1]) : Tensor(),
                 b = has_high ? x[1 + has_low] : Tensor();
    Tensor mass;
    if (has_low && has_high)
      mass = log_mass_between(*row, a, b, p);
    else
      mass = has_low ? row->log_ccdf(a, p) : row->log_cdf(b, p);
    Tensor inside = has_low ? (has_high ? logical_and(x[0] >= x[1], x[0] <= b) : x[0] >= x[1]) : x[0] <= b;
    return select(inside, negate(mass), full({}, -INFINITY, DType::f64));
  });
  add_term(traced_value(scalar_type(Base::real), {}, total_of(each), each.level, each.inside),
           {.place = s.place, .value = {}});
}

bool Evaluator::computes(const std::string& full_name) {
  if (structural().contains(full_name) || takes_function(full_name)) return true;
  if (std::string stem = full_name; cut_end(stem, "_jacobian"))
    return computes(stem + "_constrain") && computes(stem + "_log_determinant");
  if (row_named(unary_functions(), full_name) || row_named(binary_functions(), full_name) ||
      row_named(ternary_functions(), full_name) || row_named(general_functions(), full_name))
    return true;
  std::string name = full_name;
  cut_end(name, "_unnorm");
  const bool is_log_cdf = cut_end(name, "_lcdf") || cut_end(name, "_cdf");
  const bool is_log_ccdf = !is_log_cdf && cut_end(name, "_lccdf");
  const bool is_draw = !is_log_cdf && !is_log_ccdf && cut_end(name, "_rng");
  const bool is_density =
      cut_end(name, "_lpdf") || cut_end(name, "_lpmf") || cut_end(name, "_lupdf") || cut_end(name, "_lupmf");
  const UnivariateDensity* row = univariate_named(name);
  if (row && is_log_cdf) return row->log_cdf != nullptr;
  if (row && is_log_ccdf) return row->log_ccdf != nullptr;
  if (row) return is_draw ? row->draw != nullptr : is_density;
  return is_density &&
         (row_named(general_functions(), name + "_lpdf") || row_named(general_functions(), name + "_lpmf"));
}

}  // namespace adit::stan
