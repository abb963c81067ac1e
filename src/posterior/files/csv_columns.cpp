// Names of columns: theta.1, L.2.1, in column-major order.
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <set>

#include "posterior/files/csv.hpp"

namespace adit::csv {
namespace {

struct ColumnName {
  std::string base;
  std::vector<int64_t> index;  // counted from 1
};

// The number of one piece between dots, or 0 if it is none.
int64_t index_of(std::string_view piece) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), value);
  return error == std::errc() && end == piece.data() + piece.size() && value > 0 ? value : 0;
}

// "L[2,1]", as other programs write it; nothing where the name is not of that kind.
std::optional<ColumnName> split_brackets(const std::string& name) {
  const size_t open = name.find('[');
  if (open == std::string::npos || open == 0 || !name.ends_with(']')) return {};
  ColumnName result{name.substr(0, open), {}};
  std::string_view rest = std::string_view(name).substr(open + 1, name.size() - open - 2);
  while (true) {
    const size_t comma = rest.find(',');
    result.index.push_back(index_of(rest.substr(0, comma)));
    if (result.index.back() == 0 || std::ssize(result.index) > max_rank) return {};
    if (comma == std::string_view::npos) return result;
    rest.remove_prefix(comma + 1);
  }
}

ColumnName split_name(const std::string& name) {
  if (auto result = split_brackets(name)) return *result;
  ColumnName result{name, {}};
  while (std::ssize(result.index) < max_rank) {
    const size_t dot = result.base.rfind('.');
    if (dot == std::string::npos || dot == 0) break;
    const int64_t index = index_of(std::string_view(result.base).substr(dot + 1));
    if (index == 0) break;
    result.index.insert(result.index.begin(), index);
    result.base.resize(dot);
  }
  return result;
}

struct Member {
  std::vector<int64_t> index;
  size_t column;
};

Shape shape_of(const std::vector<Member>& members) {
  Shape shape = Shape::filled(static_cast<int>(members.front().index.size()), 0);
  for (const Member& member : members)
    for (int axis = 0; axis < shape.size(); axis++)
      shape[axis] = std::max(shape[axis], member.index[static_cast<size_t>(axis)]);
  return shape;
}

// Whether the shape holds that many elements; its product may be beyond 64 bits.
bool holds(const Shape& shape, size_t count) {
  size_t product = 1;
  for (const int64_t length : shape) {
    if (static_cast<size_t>(length) > count) return false;
    product *= static_cast<size_t>(length);
    if (product > count) return false;
  }
  return product == count;
}

Group make_group(const Place& place, const std::string& name, const std::vector<Member>& members) {
  for (const Member& member : members)
    if (member.index.size() != members.front().index.size())
      place.fail(
          fmt::format("expected the columns of {} to have the same number of indices", in_quotes(name)));
  Group group{name, shape_of(members), std::vector<size_t>(members.size())};
  std::set<int64_t> seen;
  const bool fits = holds(group.shape, members.size());
  if (fits)
    for (const Member& member : members) {
      int64_t element = 0;
      for (int axis = 0; axis < group.shape.size(); axis++)
        element = element * group.shape[axis] + member.index[static_cast<size_t>(axis)] - 1;
      seen.insert(element);
      group.columns[static_cast<size_t>(element)] = member.column;
    }
  if (!fits || seen.size() != members.size())
    place.fail(fmt::format("expected one column for each element of {} with the shape {}, got {} columns",
                           in_quotes(name), to_string(group.shape), members.size()));
  return group;
}

}  // namespace

const std::vector<StatColumn>& stat_columns() {
  static const std::vector<StatColumn> columns{
      {"lp__", &SampleStats::lp},
      {"accept_stat__", &SampleStats::accept_stat},
      {"stepsize__", &SampleStats::step_size},
      {"treedepth__", &SampleStats::tree_depth},
      {"n_leapfrog__", &SampleStats::n_leapfrog},
      {"divergent__", &SampleStats::divergent},
      {"energy__", &SampleStats::energy},
  };
  return columns;
}

std::vector<int64_t> column_order(const Shape& shape) {
  std::vector<int64_t> order(static_cast<size_t>(element_count(shape)));
  const Dims strides = strides_of(shape);
  Dims index = Dims::filled(shape.size(), 0);
  for (int64_t& element : order) {
    element = 0;
    for (int axis = 0; axis < shape.size(); axis++) element += index[axis] * strides[axis];
    for (int axis = 0; axis < shape.size() && ++index[axis] == shape[axis]; axis++) index[axis] = 0;
  }
  return order;
}

std::string column_name(const std::string& name, const Shape& shape, int64_t element) {
  std::string places;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    places.insert(0, fmt::format(".{}", element % shape[axis] + 1));
    element /= shape[axis];
  }
  return name + places;
}

std::vector<Group> group_columns(const Place& place, const std::vector<std::string>& names) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<Member>> members;
  for (size_t column = 0; column < names.size(); column++) {
    if (names[column].ends_with("__")) continue;
    const ColumnName name = split_name(names[column]);
    std::vector<Member>& group = members[name.base];
    if (group.empty()) order.push_back(name.base);
    group.push_back({name.index, column});
  }
  std::vector<Group> groups;
  for (const std::string& name : order) groups.push_back(make_group(place, name, members.at(name)));
  return groups;
}

}  // namespace adit::csv
