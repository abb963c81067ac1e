#include "models/data.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <iterator>
#include <stdexcept>

namespace adit::bench {

void Data::add(const std::string& name, std::vector<double> values, Kind kind) {
  const auto count = static_cast<int64_t>(values.size());
  add(name, std::move(values), {count}, kind);
}

void Data::add(const std::string& name, std::vector<double> values, const Shape& shape, Kind kind) {
  columns_.push_back({name, kind, shape, std::move(values)});
}

void Data::add_number(const std::string& name, double value, Kind kind) { add(name, {value}, Shape{}, kind); }

const Column& Data::find(const std::string& name) const {
  for (const Column& column : columns_)
    if (column.name == name) return column;
  throw std::runtime_error(fmt::format("no data named {}", name));
}

Tensor Data::operator[](const std::string& name) const {
  const Column& column = find(name);
  if (column.kind != Kind::place) return tensor(column.values, column.shape);
  return tensor(std::vector<int64_t>(column.values.begin(), column.values.end()), column.shape);
}

int64_t Data::rows(const std::string& name) const { return find(name).shape[0]; }

void Data::write(const std::string& path) const {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  for (const Column& column : columns_) {
    fmt::format_to(out, "{}\"{}\": {{\"shape\": [{}], \"values\": [", text.size() ? ",\n" : "{", column.name,
                   fmt::join(column.shape.begin(), column.shape.end(), ", "));
    const double base = column.kind == Kind::place ? 1 : 0;
    for (size_t i = 0; i < column.values.size(); ++i)
      fmt::format_to(out, "{}{}", i ? "," : "", column.values[i] + base);
    fmt::format_to(out, "]}}");
  }
  fmt::format_to(out, "}}\n");
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be written", path));
  const bool is_whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !is_whole) throw std::runtime_error(fmt::format("{}: not written", path));
}

std::vector<double> in_groups(int64_t groups, int64_t each) {
  std::vector<double> group;
  for (int64_t g = 0; g < groups; ++g) group.insert(group.end(), static_cast<size_t>(each), double(g));
  return group;
}

double row_times(const std::vector<double>& x, int64_t i, const std::vector<double>& w) {
  double total = 0;
  for (size_t j = 0; j < w.size(); ++j) total += x[static_cast<size_t>(i) * w.size() + j] * w[j];
  return total;
}

}  // namespace adit::bench
