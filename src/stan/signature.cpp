#include "stan/signature.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

#include "stan/nearest.hpp"
#include "stan/signature_rows.hpp"
#include "stan/signature_words.hpp"

namespace adit::stan {

namespace {

constexpr size_t rows_told = 6;  // of a function with many forms

struct SignatureTable {
  std::vector<Signature> sorted;
  std::unordered_map<std::string, std::vector<Row>> by_name;
};

SignatureTable make_table() {
  SignatureTable table;
  for (const Topic& topic : topics())
    for (const Signature& signature : topic.rows) {
      table.sorted.push_back(signature);
      if (auto row = row_of(signature)) table.by_name[signature.name].push_back(std::move(*row));
    }
  std::stable_sort(table.sorted.begin(), table.sorted.end(), [](const Signature& a, const Signature& b) {
    return std::string_view(a.name) < std::string_view(b.name);
  });
  return table;
}

const SignatureTable& signature_table() {
  static const SignatureTable table = make_table();
  return table;
}

// foo_lupdf is foo_lpdf.
std::string without_u(const std::string& name) {
  if (name.ends_with("_lupdf") || name.ends_with("_lupmf")) {
    std::string plain = name;
    plain.erase(plain.size() - 4, 1);
    return plain;
  }
  return name;
}

const std::vector<Row>* rows_of_name(const std::string& name) {
  const auto found = signature_table().by_name.find(without_u(name));
  return found == signature_table().by_name.end() ? nullptr : &found->second;
}

std::string written_types(const std::vector<Type>& arguments) {
  std::string text;
  for (const Type& type : arguments) text += (text.empty() ? "" : ", ") + to_text(type);
  return "(" + text + ")";
}

std::string unfit_text(const std::string& name, const std::vector<Row>& rows,
                       const std::vector<Type>& arguments) {
  std::string expected;
  for (size_t i = 0; i < std::min(rows.size(), rows_told); ++i)
    expected += (i == 0 ? "" : " or ") + rows[i].written;
  if (rows.size() > rows_told) expected += fmt::format(" or {} other forms", rows.size() - rows_told);
  return fmt::format("Ill-typed arguments supplied to function '{}'. Expected {}; found {}.", name, expected,
                     written_types(arguments));
}

std::vector<Signature> copied_rows(std::span<const Signature> rows) { return {rows.begin(), rows.end()}; }

std::vector<Signature> positive_rows() {
  std::vector<Signature> rows = rows_of(positive_families());
  rows.insert(rows.end(), passage_rows().begin(), passage_rows().end());
  return rows;
}

}  // namespace

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all = {
      {"Constants", copied_rows(constant_rows())},
      {"Elementwise functions of one argument", copied_rows(unary_rows())},
      {"Elementwise functions of several arguments", copied_rows(binary_rows())},
      {"Special functions", copied_rows(special_rows())},
      {"Integers", copied_rows(integer_rows())},
      {"Reductions", copied_rows(reduction_rows())},
      {"Arrays", copied_rows(array_rows())},
      {"Vectors and matrices", copied_rows(matrix_rows())},
      {"Linear algebra", copied_rows(linear_rows())},
      {"Covariance functions", copied_rows(covariance_rows())},
      {"Continuous distributions", rows_of(continuous_families())},
      {"Positive continuous distributions", positive_rows()},
      {"Discrete distributions", rows_of(discrete_families())},
      {"Multivariate distributions", copied_rows(multivariate_rows())},
      {"Generalised linear models", copied_rows(glm_rows())},
      {"Hidden Markov models", copied_rows(markov_rows())},
      {"Transforms", transform_rows()},
      {"Functions that take functions", copied_rows(higher_rows())},
      {"Old names", copied_rows(old_rows())},
  };
  return all;
}

std::span<const Signature> signatures() { return signature_table().sorted; }

bool is_builtin(const std::string& name) { return rows_of_name(name) != nullptr; }

Resolved resolve(const std::string& name, const std::vector<Type>& arguments) {
  const std::vector<Row>* rows = rows_of_name(name);
  if (!rows)
    return {
        false, {}, fmt::format("There is no function '{}'.{}", name, did_you_mean(nearest_name(name))), 0};
  Resolved best;
  for (const Row& row : *rows) {
    const auto found = match(row, arguments);
    if (found && (!best.found || found->promotions < best.promotions))
      best = {true, found->result, "", found->promotions};
  }
  if (!best.found) best.problem = unfit_text(name, *rows, arguments);
  return best;
}

std::string nearest_name(const std::string& name) {
  Nearest nearest(name);
  for (const Signature& row : signatures()) nearest.offer(row.name);
  if (!nearest.name().empty() || name.empty()) return nearest.name();
  // One of a longer name: eigenvalues_sym for eigenvalues.
  std::string longer;
  for (const Signature& row : signatures())
    if (std::string_view(row.name).starts_with(name + "_") &&
        (longer.empty() || std::string_view(row.name).size() < longer.size()))
      longer = row.name;
  return longer;
}

}  // namespace adit::stan
