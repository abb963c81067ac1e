#include "stan/lower.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>

#include <adit/random.hpp>

#include "graph/node.hpp"
#include "stan/constraints.hpp"
#include "stan/data_checks.hpp"
#include "stan/domains.hpp"
#include "stan/evaluator.hpp"
#include "stan/nearest.hpp"
#include "stats/model_state.hpp"

namespace adit::stan {

namespace {

std::string place_in_words(const Program& program, const Place& place) {
  const LineColumn at = line_of(program.sources[place.file], place.begin);
  return fmt::format("'{}', line {}, column {}", program.sources[place.file].name, at.line, at.column);
}

class Lowering {
 public:
  Lowering(const Program& program, const DataValues& data, uint64_t seed)
      : program_(program), data_(data), evaluator_(program), result_{Model(program.name), {}, {}, {}} {
    evaluator_.key = random::fold_in(random::key(seed), 0x7d);
    evaluator_.print = [this](const std::string& text) { result_.prints.push_back(text); };
  }

  Lowered run() {
    evaluator_.is_data_only = true;
    for (const auto& statement : program_.block(BlockKind::data).statements)
      for (const Declaration& declaration : statement->declarations) bind(declaration);
    evaluator_.run(program_.block(BlockKind::transformed_data));
    check_all(BlockKind::transformed_data);
    tell_transformed_data();
    evaluator_.is_data_only = false;
    for (const auto& statement : program_.block(BlockKind::parameters).statements)
      for (const Declaration& declaration : statement->declarations) parameter(declaration);
    for (const stats::ModelVariable& variable : stats::state_of(result_.model).variables)
      evaluator_.jacobian =
          evaluator_.jacobian ? evaluator_.jacobian + variable.log_jacobian : variable.log_jacobian;
    evaluator_.has_density = true;
    evaluator_.run(program_.block(BlockKind::transformed_parameters));
    keep_transformed();
    evaluator_.run(program_.block(BlockKind::model));
    add_terms();
    evaluator_.has_density = false;
    stats::state_of(result_.model).wants_double = evaluator_.solves_equations;
    generate();
    result_.notes = evaluator_.notes;
    for (std::string& line : evaluator_.loop_notes.lines(program_))
      result_.lowering.push_back(std::move(line));
    stats::state_of(result_.model).lowering = result_.lowering;
    return std::move(result_);
  }

 private:
  Stored& variable_of(const Declaration& declaration) {
    return evaluator_.variables()[static_cast<size_t>(declaration.slot)];
  }

  std::vector<double> numbers_of(const ExpressionPtr& bound) {
    if (!bound) return {};
    const Value value = evaluator_.whole(evaluator_.value_of(*bound));
    return value.is_known() ? value.known->numbers : std::vector<double>();
  }

  Wanted wanted_of(const SizedType& type) {
    Wanted wanted{.type = unsized(type),
                  .shape = evaluator_.shape_of(type),
                  .transform = type.transform.kind,
                  .lower = {},
                  .upper = {},
                  .members = {}};
    using Kind = Transform::Kind;
    const Kind kind = type.transform.kind;
    if (kind == Kind::lower || kind == Kind::lower_upper) wanted.lower = numbers_of(type.transform.first);
    if (kind == Kind::upper || kind == Kind::lower_upper) wanted.upper = numbers_of(type.transform.second);
    for (const SizedType& member : type.members) wanted.members.push_back(wanted_of(member));
    return wanted;
  }

  // Integers have no -0.
  static std::vector<double> numbers_in(const DataValue& from, const Wanted& wanted) {
    std::vector<double> numbers = from.numbers;
    if (wanted.type.is_integer()) std::replace(numbers.begin(), numbers.end(), -0.0, 0.0);
    return numbers;
  }

  static Value value_of(const DataValue& from, const Wanted& wanted) {
    if (wanted.type.base != Base::tuple)
      return known_value(wanted.type, wanted.shape, numbers_in(from, wanted));
    Value value;
    value.type = wanted.type;
    if (wanted.type.array == 0) {
      value.kind = Value::Kind::tuple;
      for (size_t i = 0; i < wanted.members.size(); ++i)
        value.pieces.push_back(value_of(from.members[i], wanted.members[i]));
      return value;
    }
    value.kind = Value::Kind::pieces;
    value.shape = wanted.shape;
    Wanted element = wanted;
    element.type.array -= 1;
    element.shape.erase(0);
    const size_t each = static_cast<size_t>(element_count(element.shape));
    for (int64_t i = 0; i < wanted.shape[0]; ++i) {
      const auto first = from.members.begin() + i * static_cast<int64_t>(each);
      if (element.type.array == 0) {
        value.pieces.push_back(value_of(*first, element));
      } else {
        DataValue part;
        part.members.assign(first, first + static_cast<int64_t>(each));
        value.pieces.push_back(value_of(part, element));
      }
    }
    return value;
  }

  // ". Did you mean 'x'?" where the data have a name of other case, or with few letters changed.
  std::string nearest_of_data(const std::string& wanted) const {
    const auto is_same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
    Nearest nearest(wanted);
    for (const auto& [name, value] : data_) {
      if (std::equal(name.begin(), name.end(), wanted.begin(), wanted.end(), is_same))
        return "." + did_you_mean(name);
      if (!is_declared(name)) nearest.offer(name);
    }
    return nearest.name().empty() ? "" : "." + did_you_mean(nearest.name());
  }
  bool is_declared(const std::string& name) const {
    for (const auto& statement : program_.block(BlockKind::data).statements)
      for (const Declaration& declaration : statement->declarations)
        if (declaration.name == name) return true;
    return false;
  }

  void bind(const Declaration& declaration) {
    const Wanted wanted = wanted_of(declaration.type);
    const auto found = data_.find(declaration.name);
    const bool empty = element_count(wanted.shape) == 0;
    if (found == data_.end() && !empty)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("[data] {}: expected {} in the data, found none{}", declaration.name,
                              to_text(wanted.type), nearest_of_data(declaration.name)));
    const DataValue value = found == data_.end() ? DataValue{wanted.shape, {}, true, {}} : found->second;
    check_data(declaration.name, value, wanted);
    variable_of(declaration) = {value_of(value, wanted), 0, {}};
  }

  void check_all(BlockKind kind) {
    for (const auto& statement : program_.block(kind).statements)
      for (const Declaration& declaration : statement->declarations) {
        const Wanted wanted = wanted_of(declaration.type);
        const Value value = evaluator_.whole(variable_of(declaration).value);
        if (!value.is_known() || value.type.base == Base::tuple || wanted.transform == Transform::Kind::none)
          continue;
        try {
          check_data(declaration.name, {value.shape, value.known->numbers, value.type.is_integer(), {}},
                     wanted);
        } catch (const Error& error) {
          throw RunError{declaration.type.place + declaration.name_place, error.what()};
        }
      }
  }

  void tell_transformed_data() {
    int64_t numbers = 0;
    for (const auto& statement : program_.block(BlockKind::transformed_data).statements)
      for (const Declaration& declaration : statement->declarations)
        numbers += evaluator_.whole(variable_of(declaration).value).size();
    if (numbers > 0)
      result_.lowering.push_back(fmt::format("transformed data: {} numbers computed beforehand", numbers));
  }

  // What a declaration says of its values; numbers from 0 on are positive but where they underflow.
  char promise_of(const Transform& transform) {
    using Kind = Transform::Kind;
    if (transform.kind != Kind::lower && transform.kind != Kind::lower_upper)
      return letter_of(transform.kind);
    const std::vector<double> low = numbers_of(transform.first);
    const bool is_from_0 =
        !low.empty() && std::all_of(low.begin(), low.end(), [](double bound) { return bound >= 0; });
    return is_from_0 ? 'p' : '.';
  }

  Tensor bound_of(const ExpressionPtr& bound) { return evaluator_.real_tensor(evaluator_.value_of(*bound)); }

  void parameter(const Declaration& declaration) {
    variable_of(declaration) = {};
    const Value value = parameter(declaration.type, declaration.name, declaration.name_place);
    variable_of(declaration).value = value;
  }

  // Members of tuples are parameters of their own, named as CmdStan names them: p:1, pairs.2:1.
  Value parameter(const SizedType& type, const std::string& name, const Place& place) {
    const Shape shape = evaluator_.shape_of(type);
    if (type.base == Base::tuple) return tuples(type, name, place, shape, 0);
    if (element_count(shape) == 0) return known_value(unsized(type), shape, {});
    const Tensor first = type.transform.first ? bound_of(type.transform.first) : Tensor();
    const Tensor second = type.transform.second ? bound_of(type.transform.second) : Tensor();
    std::vector<Extent> extents;
    for (const int64_t extent : shape) extents.emplace_back(extent);
    const Constraint constraint = constrained_by(type, first, second, place);
    // A simplex of one element and the like have no freedom.
    if (element_count(constraint.unconstrained_shape(shape)) == 0) {
      const Constrained fixed =
          constraint.constrain(zeros(constraint.unconstrained_shape(shape), DType::f64), shape);
      result_.model.deterministic(name, fixed.value);
      return known_value(unsized(type), shape, fixed.value.to_vector<double>());
    }
    Value value = traced_value(unsized(type), shape, result_.model.parameter(name, constraint, extents));
    value.promise = promise_of(type.transform);
    return value;
  }

  // Bounds that leave nothing between them are told with their place.
  static Constraint constrained_by(const SizedType& type, const Tensor& first, const Tensor& second,
                                   const Place& place) {
    try {
      return constraint_of(type, first, second);
    } catch (const Error& error) {
      throw RunError{place, fmt::format("the bounds of a parameter: {}", error.what())};
    }
  }

  // A tuple, or an array of them from this axis on.
  Value tuples(const SizedType& type, const std::string& name, const Place& place, const Shape& shape,
               int axis) {
    Value value;
    value.type = unsized(type);
    value.type.array -= axis;
    if (axis == shape.size()) {
      value.kind = Value::Kind::tuple;
      for (size_t i = 0; i < type.members.size(); ++i)
        value.pieces.push_back(parameter(type.members[i], fmt::format("{}:{}", name, i + 1), place));
      return value;
    }
    value.kind = Value::Kind::pieces;
    for (int i = axis; i < shape.size(); ++i) value.shape.push_back(shape[i]);
    for (int64_t i = 0; i < shape[axis]; ++i)
      value.pieces.push_back(tuples(type, fmt::format("{}.{}", name, i + 1), place, shape, axis + 1));
    return value;
  }

  // With what its declaration says, as a term that is minus infinity where it does not hold.
  void keep_transformed() {
    for (const auto& statement : program_.block(BlockKind::transformed_parameters).statements)
      for (const Declaration& declaration : statement->declarations) {
        const Value value = evaluator_.whole(variable_of(declaration).value);
        keep(declaration.name, value, [&](const std::string& name, const Value& part) {
          result_.model.deterministic(name, evaluator_.real_tensor(part));
        });
        evaluator_.expect_declared(declaration, value);
        if (const char letter = promise_of(declaration.type.transform); letter != '.')
          variable_of(declaration).value.promise = letter;  // it holds, or there is no density
      }
  }

  template <class Give>
  void keep(const std::string& name, const Value& value, const Give& give) {
    if (value.kind == Value::Kind::tuple ||
        (value.kind == Value::Kind::pieces && value.type.base == Base::tuple)) {
      const char mark = value.kind == Value::Kind::tuple ? ':' : '.';
      for (size_t i = 0; i < value.pieces.size(); ++i)
        keep(fmt::format("{}{}{}", name, mark, i + 1), evaluator_.whole(value.pieces[i]), give);
      return;
    }
    if (value.size() > 0) give(name, value);
  }

  // Statements about parts of the same data are terms of their own; together they are one that adds nothing.
  void observe(const Likelihood& found, size_t first_term) {
    stats::ModelState& state = stats::state_of(result_.model);
    if (found.term < 0)
      state.terms.push_back(
          {.name = found.name, .total = full({}, 0.0, DType::f64), .pointwise = found.log_density});
    const size_t term =
        found.term < 0 ? state.terms.size() - 1 : first_term + static_cast<size_t>(found.term);
    const Shape& shape = found.log_density.shape();
    Distribution likelihood;
    likelihood.name = found.distribution;
    likelihood.draw = found.draw;
    state.observations.push_back({found.name, std::move(likelihood), as_type(found.value, DType::f64), shape,
                                  std::vector<std::string>(static_cast<size_t>(shape.size())), term});
  }

  void add_terms() {
    const size_t first = stats::state_of(result_.model).terms.size();
    std::map<std::string, int> seen;
    for (const Term& term : evaluator_.terms) {
      const auto line = line_of(program_.sources[term.place.file], term.place.begin).line;
      std::string name = fmt::format("line:{}", line);
      if (const int before = seen[name]++) name += fmt::format(":{}", before + 1);
      // Not by Model::add_log_density: it walks all of a term's graph, and terms share most of theirs.
      const Tensor each = as_type(term.value, DType::f64);
      stats::ModelTerm& added = stats::state_of(result_.model).terms.emplace_back();
      added.name = name, added.total = sum(each), added.pointwise = each;
      if (term.is_jacobian) added.name += " (jacobian)";  // a search without Jacobians leaves it out
      tell(term, added);
    }
    for (const Likelihood& likelihood : evaluator_.likelihoods()) observe(likelihood, first);
    evaluator_.terms.clear();
  }

  // What is told of a term that is not finite.
  void tell(const Term& term, stats::ModelTerm& added) const {
    added.stated = evaluator_.text_at(term.place);
    added.rejects = term.rejects;
    for (const Witness& use : term.uses)
      added.witnesses.push_back({use.name, use.value.tensor, use.value.level > 0, use.is_round});
  }

  // Draws that generated quantities do not allow.
  void add_checks() {
    for (const Term& term : evaluator_.terms) {
      stats::ModelTerm check{
          .name = place_in_words(program_, term.place), .total = {}, .pointwise = term.value};
      check.total = term.value.rank() > 0 ? sum(term.value) : term.value;
      tell(term, check);
      stats::state_of(result_.model).checks.push_back(std::move(check));
    }
  }

  void generate() {
    stats::ModelState& state = stats::state_of(result_.model);
    state.generated_key = graph::placeholder(DType::u32, {2});
    evaluator_.key = state.generated_key;
    evaluator_.is_generating = true;
    evaluator_.run(program_.block(BlockKind::generated_quantities));
    for (const auto& statement : program_.block(BlockKind::generated_quantities).statements)
      for (const Declaration& declaration : statement->declarations)
        evaluator_.expect_declared(declaration, variable_of(declaration).value);
    add_checks();
    for (const auto& statement : program_.block(BlockKind::generated_quantities).statements)
      for (const Declaration& declaration : statement->declarations)
        keep(declaration.name, evaluator_.whole(variable_of(declaration).value),
             [&](const std::string& name, const Value& value) {
               state.generated.push_back({name, evaluator_.real_tensor(value), value.shape});
             });
  }

  const Program& program_;
  const DataValues& data_;
  Evaluator evaluator_;
  Lowered result_;
};

}  // namespace

Lowered lower(const Program& program, const DataValues& data, uint64_t seed) {
  const auto fail = [&](const Place& place, const std::string& text) {
    throw Error(ErrorKind::bad_argument, fmt::format("{}: {}", place_in_words(program, place), text));
  };
  try {
    std::optional<Lowered> lowered;
    walk_deep(program, [&] { lowered = Lowering(program, data, seed).run(); });
    return std::move(*lowered);
  } catch (const RunError& error) {
    fail(error.place, error.text);
  } catch (const Differs&) {
    throw Error(ErrorKind::unsupported,
                fmt::format("[stan] {}: a size differs between rounds of a loop", program.name));
  } catch (const NotTogether& reason) {
    throw Error(ErrorKind::unsupported, fmt::format("[stan] {}: {}", program.name, reason.why));
  }
  throw Error(ErrorKind::internal, "[stan] lower: no result");
}

}  // namespace adit::stan
