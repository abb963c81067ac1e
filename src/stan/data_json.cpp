// Data from JSON. The text is read by hand: JSON has no bare NaN, and its readers forget whether 1.0 was
// written as an integer and whether a name stood twice.
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <utility>

#include <adit/text.hpp>

#include "stan/data_json_cursor.hpp"

namespace adit::stan {
namespace {

constexpr size_t most_slots = size_t{1} << 21;  // of all tuples: each takes some hundred bytes

// An array while it is read. Its axes are told by the brackets that open; an extent is -1 until the first
// list of its axis closes.
struct OpenArray {
  enum class Leaves : uint8_t { none, numbers, tuples };
  DataValue& value;
  std::vector<int64_t> extents{}, counts{};  // counts: of the lists that are open, which are the index
  Leaves leaves = Leaves::none;

  std::string index() const { return counts.empty() ? "" : fmt::format("[{}]", fmt::join(counts, ", ")); }
};

class DataJsonReader {
 public:
  DataJsonReader(std::string_view text, const std::string& name) : cursor_(text, name) {}

  DataValues read() {
    cursor_.expect('{', "an object of values by variable");
    DataValues values;
    if (!cursor_.skip('}')) {
      do read_variable(values);
      while (cursor_.more('}', "}"));
    }
    cursor_.expect_end();
    return values;
  }

 private:
  void read_variable(DataValues& values) {
    cursor_.variable.clear();
    const size_t at = cursor_.next();
    const std::string name = cursor_.string("a name in quotes");
    if (is_variable_name(name) && values.contains(name))
      cursor_.fail(at, "each name once", quoted_data(name) + " again");
    cursor_.variable = name;
    cursor_.expect(':', "a colon after the name");
    if (is_variable_name(name))
      values.emplace(name, read_value());
    else
      cursor_.skip_value();
  }

  DataValue read_value() {
    DataValue value;
    const char c = cursor_.peek();
    if (c == '[')
      read_array(value);
    else if (c == '{')
      read_tuple(value);
    else
      cursor_.number(value);
    finish_value(value);
    return value;
  }

  void read_array(DataValue& value) {
    OpenArray array{value};
    const std::string outside = cursor_.variable;
    cursor_.index = [&array] { return array.index(); };
    read_list(array);
    cursor_.index = {};
    cursor_.variable = outside;
    value.shape = Shape(array.extents);
  }

  void read_list(OpenArray& array) {
    const size_t at = cursor_.next(), axis = array.counts.size();
    if (axis == max_rank)
      cursor_.fail(at, fmt::format("arrays of at most {} axes", max_rank), "one with more");
    if (axis == array.extents.size()) {
      if (array.leaves != OpenArray::Leaves::none) cursor_.fail(at, leaf_name(array), "a list");
      array.extents.push_back(-1);
    }
    cursor_.enter('[');
    array.counts.push_back(0);
    if (!cursor_.skip(']')) {
      do read_element(array);
      while (cursor_.more(']', "]"));
    }
    cursor_.leave();
    const int64_t count = array.counts.back();
    array.counts.pop_back();
    int64_t& extent = array.extents[axis];
    if (extent >= 0 && extent != count)
      cursor_.fail(at, fmt::format("a list of {} elements as those before it", extent),
                   fmt::format("one of {}", count));
    extent = count;
  }

  static std::string leaf_name(const OpenArray& array) {
    return array.leaves == OpenArray::Leaves::tuples ? "a tuple" : "a number";
  }

  void read_element(OpenArray& array) {
    ++array.counts.back();
    const char c = cursor_.peek();
    if (c == '[') return read_list(array);
    const auto kind = c == '{' ? OpenArray::Leaves::tuples : OpenArray::Leaves::numbers;
    if (array.counts.size() != array.extents.size())
      cursor_.fail(cursor_.next(), "a list as those before it",
                   kind == OpenArray::Leaves::tuples ? "a tuple" : cursor_.glimpse());
    if (array.leaves != kind) {
      if (array.leaves != OpenArray::Leaves::none)
        cursor_.fail(cursor_.next(), leaf_name(array),
                     kind == OpenArray::Leaves::tuples ? "an object" : cursor_.glimpse());
      array.leaves = kind;
    }
    if (kind == OpenArray::Leaves::numbers) return cursor_.number(array.value);
    read_tuple_element(array);
  }

  // Inside, names of variables begin with that of the element.
  void read_tuple_element(OpenArray& array) {
    const std::string outside = cursor_.variable;
    cursor_.variable = outside + array.index();
    const auto index = std::exchange(cursor_.index, {});
    DataValue& element = array.value.members.emplace_back();
    read_tuple(element);
    finish_value(element);
    cursor_.index = index;
    cursor_.variable = outside;
  }

  void read_tuple(DataValue& value) {
    const std::string outside = cursor_.variable;
    const size_t begin = cursor_.next();
    std::map<int64_t, DataValue> slots;
    cursor_.enter('{');
    if (!cursor_.skip('}')) {
      do read_slot(slots, outside);
      while (cursor_.more('}', "}"));
    }
    cursor_.leave();
    cursor_.variable = outside;
    if (slots.empty()) cursor_.fail(begin, "a tuple {\"1\": ..., \"2\": ...}", "an object without keys");
    for (auto& [number, slot] : slots) {
      if (number != std::ssize(value.members) + 1)
        cursor_.fail(begin, fmt::format("a tuple with the key \"{}\"", value.members.size() + 1),
                     fmt::format("\"{}\" without it", number));
      value.members.push_back(std::move(slot));
    }
  }

  void read_slot(std::map<int64_t, DataValue>& slots, const std::string& tuple) {
    cursor_.variable = tuple;
    const size_t at = cursor_.next();
    const std::string key = cursor_.string("a key of a tuple in quotes");
    int64_t number = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
    const bool is_plain = error == std::errc() && end == key.data() + key.size() && key.front() != '0';
    if (!is_plain || number < 1)
      cursor_.fail(at, "a tuple with keys \"1\", \"2\", ...", "the key " + quoted_data(key));
    if (slots.contains(number)) cursor_.fail(at, "each key once", quoted_data(key) + " again");
    if (++slots_ > most_slots)
      cursor_.fail(at, fmt::format("at most {} slots of tuples", most_slots), "more");
    cursor_.variable = fmt::format("{}.{}", tuple, number);
    cursor_.expect(':', "a colon after the key");
    slots.emplace(number, read_value());
  }

  JsonCursor cursor_;
  size_t slots_ = 0;
};

}  // namespace

DataValues data_from_json(std::string_view text, const std::string& name) {
  return DataJsonReader(text, name).read();
}

}  // namespace adit::stan
