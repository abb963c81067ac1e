// What functions demand of their arguments (domains.hpp), and declarations of what they declare.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <adit/error.hpp>

#include "stan/data_structure.hpp"
#include "stan/domains.hpp"
#include "stan/evaluator.hpp"

namespace adit::stan {

namespace {

Tensor argument_number(double x) { return full({}, x, DType::f64); }

Tensor turned(const Tensor& matrix) {
  Axes axes;
  for (int i = 0; i < matrix.rank(); ++i) axes.push_back(i);
  std::swap(axes[matrix.rank() - 1], axes[matrix.rank() - 2]);
  return transpose(matrix, axes);
}

// Rows and columns of a matrix as numbers along its last two axes.
Tensor is_above_diagonal(const Tensor& matrix) {
  const int64_t rows = matrix.dim(-2), columns = matrix.dim(-1);
  return iota({rows, 1}, DType::i64, 0) < iota({1, columns}, DType::i64, 1);
}
Tensor is_on_diagonal(const Tensor& matrix) {
  return equal(iota({matrix.dim(-2), 1}, DType::i64, 0), iota({1, matrix.dim(-1)}, DType::i64, 1));
}

// "[data] theta[2]: expected ..., found ...": without its first word.
std::string words_of_data_error(const Error& error) {
  const std::string text = error.what();
  const size_t end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace

// A density's parameters outside of their domains make it no number by themselves; what its formula does not
// see is looked at in a density too.
void Evaluator::expect_domains(const std::string& name, std::span<const Value> arguments,
                               const Place& place) {
  if (name.starts_with("csr_") && arguments.size() > 1) expect_sparse(name, arguments, place);
  const Demands* demands = demands_of(name);
  const bool is_own = demands != nullptr;
  if (!demands) demands = demands_of(name_of_family(name));
  if (!demands) return;
  std::string letters(demands->letters);
  const bool draws = name.ends_with("_rng") && !is_own;
  const bool is_cdf = name.ends_with("cdf") && !is_own;
  if (draws) letters.erase(0, 1);
  if (is_cdf) letters[0] = demands->support == '+' ? '0' : demands->support == '1' ? '1' : 'n';
  if (demands->hides && letters.size() < arguments.size())
    letters.insert(0, 1, letters[0]);  // two lists of points
  letters.resize(arguments.size(), '.');
  const auto is_traced = [](const Value& value) {
    return !value.is_known() && (value.kind != Value::Kind::pieces ||
                                 std::any_of(value.pieces.begin(), value.pieces.end(),
                                             [](const Value& piece) { return !piece.is_known(); }));
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    char letter = letters[i];
    const Value& value = arguments[i];
    if (letter == 'S' && value.shape.size() == 1) letter = 'N';
    if (letter == 'z' && value.type.base == Base::matrix) letter = 'Z';
    const bool is_whole = is_structure(letter);
    if (letter == '.' || value.size() == 0 || value.kind == Value::Kind::tuple) continue;
    if (draws && (letter == 'p' || letter == 'n')) letter = letter == 'p' ? '+' : 'f';
    if (has_density && is_traced(value) && !demands->hides &&
        (!is_whole || letter == 'd' || letter == 'y' || letter == 'S'))
      continue;
    if ((is_whole || has_density) && promises(value.promise, letter)) continue;
    const Domain* domain = domain_of(letter);
    if (domain && value.is_known() &&
        std::all_of(value.known->numbers.begin(), value.known->numbers.end(), domain->number))
      continue;
    const std::string who = fmt::format("{}: argument {}", name, i + 1);
    if (letter == 'k' || letter == 'w') {
      const Value& last = arguments.back();
      if (last.shape.empty()) continue;
      const auto size = static_cast<double>(last.shape.back() + (letters.back() == 'o' ? 1 : 0));
      if (letter == 'k')
        demand_each(
            value, place, fmt::format("{}: expected a class from 1 to {}, got ", who, size),
            [=](double x) { return x >= 1 && x <= size; },
            [=](const Tensor& x) {
              return logical_and(x >= argument_number(1), x <= argument_number(size));
            });
      else
        demand_each(
            value, place, fmt::format("{}: expected a number above {}, got ", who, size - 1),
            [=](double x) { return x > size - 1; },
            [=](const Tensor& x) { return x > argument_number(size - 1); });
      continue;
    }
    expect_argument(letter, value, place, who);
  }
  expect_relations(name, arguments, place);
  const bool is_of_outcome = demands->below == 0 || demands->above == 0;
  if (demands->below < 0 || (is_of_outcome && (draws || is_cdf))) return;
  const size_t low = static_cast<size_t>(demands->below - draws),
               high = static_cast<size_t>(demands->above - draws);
  if (has_density && (is_traced(arguments[low]) || is_traced(arguments[high]))) return;
  expect_rising_arguments(name, low, high, arguments, demands->may_be_equal, place);
}

void Evaluator::expect_argument(char letter, const Value& value, const Place& place, const std::string& who) {
  if (is_structure(letter)) return expect_structure(letter, value, place, who);
  const Domain* domain = domain_of(letter);
  if (domain)
    demand_each(value, place, fmt::format("{}: expected {}, got ", who, domain->words), domain->number,
                domain->tensor);
}

void Evaluator::expect_rising_arguments(const std::string& name, size_t low, size_t high,
                                        std::span<const Value> arguments, bool may_be_equal,
                                        const Place& place) {
  const Operator op = may_be_equal ? Operator::less_equal : Operator::less;
  const Value limit = whole(arguments[high]);
  const bool is_number = limit.is_known() && limit.level == 0 && limit.shape.empty();
  demand_all(operate(op, arguments[low], limit, place), arguments[low], place,
             fmt::format("{}: argument {}: expected a number {} argument {}{}, got ", name, low + 1,
                         may_be_equal ? "not above" : "below", high + 1,
                         is_number ? fmt::format(", {}", limit.known->numbers[0]) : ""));
}

// --- Vectors and matrices ----------------------------------------------------------------------------------

void Evaluator::expect_known_structure(char letter, const Value& value, const Place& place,
                                       const std::string& who) {
  const auto size = static_cast<size_t>(value.size());
  const std::vector<double>& numbers = value.known->numbers;
  std::vector<double> holds;
  std::string words;
  Wanted wanted{.type = value.type,
                .shape = value.shape,
                .transform = structure_of(letter),
                .lower = {},
                .upper = {},
                .members = {},
                .is_computed = true};
  for (size_t first = 0; first < numbers.size(); first += size) {
    const auto begin = numbers.begin() + static_cast<int64_t>(first);
    DataValue lane{value.shape, {begin, begin + static_cast<int64_t>(size)}, {}, {}};
    holds.push_back(1);
    try {
      switch (letter) {
        case 'y': check_symmetry(who, lane); break;
        case 'S': check_semidefinite(who, lane); break;
        case 'T': check_triangle(who, lane); break;
        default: check_structure(who, lane, wanted);
      }
    } catch (const Error& error) {
      holds.back() = 0;
      if (words.empty()) words = words_of_data_error(error);
    }
  }
  if (!words.empty())
    demand(known_value(scalar_type(Base::integer), {}, std::move(holds), value.level), {}, place, words);
}

void Evaluator::expect_structure(char letter, const Value& of, const Place& place, const std::string& who) {
  const Value value = whole(of);
  if (value.size() == 0) return;
  if (value.is_known()) return expect_known_structure(letter, value, place, who);
  // Kernels in single precision have sums that are off.
  const double slack = has_density ? 1e-4 : 1e-8;
  const Tensor x = stop_gradient(value.tensor);
  const auto each = [&](const Tensor& found, const std::string& words,
                        const std::function<Tensor(const Tensor&)>& holds) {
    const bool in_lanes = levels_.lanes(value.level, value.inside) > 0;
    Shape own = found.shape();
    if (in_lanes) own.erase(0);
    demand_each(
        traced_value(array_of(scalar_type(Base::real), own.size()), own, found, value.level, value.inside),
        place, fmt::format("{}: expected {}, got ", who, words), nullptr, holds);
  };
  const auto near = [&](double wanted) {
    return
        [=](const Tensor& found) { return abs(found - argument_number(wanted)) <= argument_number(slack); };
  };
  const auto at_least_0 = [](const Tensor& found) { return found >= argument_number(0); };
  const auto above_0 = [](const Tensor& found) { return found > argument_number(0); };
  const auto steps = [&] {
    const int64_t count = x.dim(-1) - 1;
    Dims begin = Dims::filled(x.rank(), 0), length = x.shape();
    length[x.rank() - 1] = count;
    const Tensor before = slice(x, begin, length);
    begin[x.rank() - 1] = 1;
    return slice(x, begin, length) - before;
  };
  const auto expect_simplexes = [&](int axis) {
    each(reduce_min(x, {axis}), "elements of a simplex, at least 0", at_least_0);
    each(sum(x, {axis}), "a simplex, whose elements add up to 1", near(1));
  };
  const auto expect_symmetry = [&] {
    const Tensor most = reduce_max(abs(x), {-2, -1}, true),
                 gap = reduce_max(abs(x - turned(x)), {-2, -1}, true);
    each(gap / maximum(most, argument_number(1)), "a symmetric matrix", near(0));
  };
  const auto on_diagonal = [&](const Tensor& matrix, double otherwise) {
    return select(is_on_diagonal(matrix), matrix, argument_number(otherwise));
  };
  const auto expect_definite = [&] {
    if (has_density) return;  // its factor has no numbers, nor has the density
    const Tensor least = reduce_min(on_diagonal(cholesky(x), 1), {-2, -1});
    each(least, "a matrix that is positive definite, whose factor has a positive diagonal", above_0);
  };
  const auto expect_semidefinite = [&] {
    const Tensor most = maximum(reduce_max(abs(on_diagonal(x, 0)), {-2, -1}, true), argument_number(1));
    const Tensor factor = cholesky(select(is_on_diagonal(x), x + argument_number(1e-8) * most, x));
    each(reduce_min(on_diagonal(factor, 1), {-2, -1}), "a matrix that is positive semidefinite", above_0);
  };
  const auto expect_zeros_above = [&](const std::string& kind) {
    each(select(is_above_diagonal(x), x, argument_number(0)), "0 above the diagonal of a " + kind, near(0));
  };
  const auto expect_triangle = [&] {
    expect_zeros_above("Cholesky factor");
    each(reduce_min(on_diagonal(x, 1), {-2, -1}), "more than 0 on the diagonal of a Cholesky factor",
         above_0);
  };
  switch (letter) {
    case 's':
    case 'r': return expect_simplexes(-1);
    case 'q': return expect_simplexes(-2);
    case 'P': each(reduce_min(x, {-1}), "positive elements in rising order", at_least_0); [[fallthrough]];
    case 'o':
      if (x.dim(-1) > 1) each(steps(), "elements in rising order, and steps above 0", above_0);
      return;
    case 'u': return each(sum(square(x), {-1}), "a unit vector, whose squares add up to 1", near(1));
    case 'z': return each(sum(x, {-1}), "a vector whose elements add up to 0", near(0));
    case 'Z':
      each(sum(x, {-1}), "a matrix whose rows each add up to 0", near(0));
      return each(sum(x, {-2}), "a matrix whose columns each add up to 0", near(0));
    case 'y': return expect_symmetry();
    case 'd': expect_symmetry(); return expect_definite();
    case 'S': expect_symmetry(); return expect_semidefinite();
    case 'T': return expect_zeros_above("lower triangular matrix");
    case 'c':
      expect_symmetry();
      each(on_diagonal(x, 1), "1 on the diagonal of a correlation matrix", near(1));
      return expect_definite();
    case 'L': return expect_triangle();
    case 'C':
      expect_triangle();
      return each(sum(square(x), {-1}), "a matrix whose rows each have squares that add up to 1", near(1));
    default: return;
  }
}

// --- Sparse matrices ---------------------------------------------------------------------------------------

// (rows, columns, w, v, u ...): columns of the numbers, and where rows begin among them.
void Evaluator::expect_sparse(const std::string& name, std::span<const Value> a, const Place& place) {
  const double rows = number_of(a[0], place), columns = number_of(a[1], place);
  const int64_t count = a[2].size();
  const auto expect_count = [&](const char* what, int64_t wanted, int64_t got) {
    if (wanted != got) fail(place, fmt::format("{}: expected {} {}, got {}", name, wanted, what, got));
  };
  expect_count("columns in v, one for each number of w", count, a[3].size());
  expect_count("starts of rows in u, one more than there are rows", static_cast<int64_t>(rows) + 1,
               a[4].size());
  if (a.size() > 5) expect_count("numbers in b, one a column", static_cast<int64_t>(columns), a[5].size());
  expect_places(a[3], static_cast<int64_t>(columns), place, name + ": v: ");
  expect_places(a[4], count + 1, place, name + ": u: ");
  const Value starts = whole(a[4]);
  if (!starts.is_known()) return;
  const std::vector<double>& u = starts.known->numbers;
  const auto size = static_cast<size_t>(starts.size());
  for (size_t i = 0; i < u.size(); ++i) {
    const bool is_first = i % size == 0, is_last = i % size + 1 == size;
    if (!is_first && u[i] < u[i - 1])
      fail(place,
           fmt::format("{}: u: expected starts that do not fall, got {} after {}", name, u[i], u[i - 1]));
    if (is_first && u[i] != 1)
      fail(place, fmt::format("{}: u: expected 1 as the first start, got {}", name, u[i]));
    if (is_last && u[i] != static_cast<double>(count + 1))
      fail(place,
           fmt::format("{}: u: expected {} as the end of the last row, got {}", name, count + 1, u[i]));
  }
}

// --- Declarations ------------------------------------------------------------------------------------------

void Evaluator::expect_declared(const Declaration& declaration, const Value& of) {
  using Kind = Transform::Kind;
  const Transform& transform = declaration.type.transform;
  const Place place = declaration.type.place + declaration.name_place;
  if (of.size() == 0 || of.type.base == Base::tuple || of.kind == Value::Kind::tuple) return;
  const Value value = whole(of);
  if (value.type.is_integer()) expect_integers(value, place);  // operators on draws do not look
  if (const char letter = letter_of(transform.kind); letter != '.') {
    if (!promises(value.promise, letter)) expect_structure(letter, value, place, declaration.name);
    return;
  }
  const auto expect_bound = [&](const ExpressionPtr& at, Operator op, const char* side) {
    if (!at) return;
    const Value bound = whole(evaluate(*at));
    const bool is_number = bound.is_known() && bound.shape.empty();
    const std::string text =
        fmt::format("{}: expected a number {}{}, as its bound says, got ", declaration.name, side,
                    is_number ? fmt::format(" {}", bound.known->numbers[0]) : " another one");
    demand_all(operate(op, value, bound, place), value, place, text);
  };
  const Kind kind = transform.kind;
  if (kind == Kind::lower || kind == Kind::lower_upper)
    expect_bound(transform.first, Operator::greater_equal, "of at least");
  if (kind == Kind::upper || kind == Kind::lower_upper)
    expect_bound(transform.second, Operator::less_equal, "of at most");
}

}  // namespace adit::stan
