#include "io/csv_table.hpp"

#include <fmt/format.h>

namespace adit {
namespace {

using table::Column;
using table::State;

const Column& find(const State* state, std::string_view name) {
  static const State nothing{"no file", 0, {}, {}, {}, nullptr};
  if (!state) state = &nothing;
  const auto at = state->places.find(name);
  if (at == state->places.end()) table::refuse_name({"Table", state->file}, name, state->names);
  return state->columns[at->second];
}

[[noreturn]] void refuse(const State& state, std::string_view name, const std::string& what) {
  throw Error(ErrorKind::bad_argument,
              fmt::format("[Table] {}: column {}: {}", state.file, table::shown(name), what));
}

// As f64, to every `step`-th place from `to` on.
void copy_numbers(const State& state, std::string_view name, double* to, size_t step) {
  const Column& column = find(&state, name);
  if (!column.words.empty()) refuse(state, name, "expected numbers for a matrix, got words");
  for (size_t row = 0; row < column.real.size(); row++) to[row * step] = column.real[row];
  for (size_t row = 0; row < column.whole.size(); row++) {
    if (!table::is_exact(column.whole[row]))
      refuse(state, name, fmt::format("expected numbers that f64 holds exactly, got {}", column.whole[row]));
    to[row * step] = static_cast<double>(column.whole[row]);
  }
}

}  // namespace

int64_t Table::rows() const { return state_ ? state_->rows : 0; }

std::vector<std::string> Table::names() const { return state_ ? state_->names : std::vector<std::string>(); }

bool Table::has(std::string_view name) const { return state_ && state_->places.contains(name); }

Tensor Table::at(std::string_view name) const {
  const Column& column = find(state_.get(), name);
  const Shape shape{state_->rows};
  return column.real.empty() ? tensor(column.whole, shape, state_->device)
                             : tensor(column.real, shape, state_->device);
}

std::vector<std::string> Table::words(std::string_view name) const {
  const Column& column = find(state_.get(), name);
  if (column.words.empty())
    refuse(*state_, name, "expected words, got numbers; name it in as_words to read it as words");
  return column.words;
}

Tensor Table::matrix(const std::vector<std::string>& names) const {
  if (names.empty())
    throw Error(ErrorKind::bad_argument, "[Table] matrix: expected names of columns, got none");
  for (const std::string& name : names) find(state_.get(), name);
  const size_t rows = static_cast<size_t>(state_->rows);
  std::vector<double> values(rows * names.size());
  for (size_t i = 0; i < names.size(); i++) copy_numbers(*state_, names[i], values.data() + i, names.size());
  return tensor(values, {state_->rows, std::ssize(names)}, state_->device);
}

}  // namespace adit
