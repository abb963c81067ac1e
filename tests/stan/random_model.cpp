// The blocks of a random model, and its data.
#include "random_model.hpp"

#include <fmt/format.h>

#include "random_writer.hpp"

namespace adit::test {

namespace {

nlohmann::json filled_with(const std::vector<int64_t>& sizes, size_t axis, const auto& number) {
  if (axis == sizes.size()) return number();
  nlohmann::json list = nlohmann::json::array();
  for (int64_t i = 0; i < sizes[axis]; ++i) list.push_back(filled_with(sizes, axis + 1, number));
  return list;
}

std::vector<int64_t> sizes_of(const Kind& kind) {
  std::vector<int64_t> sizes;
  for (const auto* axes : {&kind.array, &kind.own})
    for (const Extent& one : *axes) sizes.push_back(one.value);
  return sizes;
}

const Kind integer_kind{.form = Form::integer, .array = {}, .own = {}};

}  // namespace

// Lengths around those at which loops are run in another way: few rounds are written out.
void ModelWriter::sizes() {
  const int64_t values[] = {between(9, 13), between(5, 8), between(2, 4), between(1, 3)};
  const char* words[] = {"N", "M", "K", "J"};
  for (size_t i = 0; i < 4; ++i) {
    data_[words[i]] = values[i];
    line(fmt::format("int<lower=1> {};", words[i]));
    extents_.push_back({words[i], values[i]});
  }
  for (const Extent& one : extents_)
    names_.push_back({.text = one.text, .kind = integer_kind, .low = one.value, .high = one.value});
}

void ModelWriter::data_block() {
  open("data");
  sizes();
  for (int i = 0; i < 3; ++i) {
    const Extent of = extent(), up_to = extents_[pick(3)];
    const std::string name = fresh("at");
    line(fmt::format("array[{}] int<lower=1, upper={}> {};", of.text, up_to.text, name));
    data_[name] = filled_with({of.value}, 0, [&] { return between(1, up_to.value); });
    Name own{.text = name, .kind = integer_kind, .low = 1, .high = up_to.value};
    own.kind.array = {of};
    names_.push_back(own);
  }
  {
    const Extent of = extent();
    line(fmt::format("array[{}] int<lower=0, upper=1> flag;", of.text));
    data_["flag"] = filled_with({of.value}, 0, [&] { return between(0, 1); });
    Name own{.text = "flag", .kind = integer_kind, .low = 0, .high = 1};
    own.kind.array = {of};
    names_.push_back(own);
  }
  {  // sizes of parts, which fill at most the first size
    line(fmt::format("array[{}] int<lower=0> parts;", extents_[1].text));
    int64_t left = extents_[0].value;
    data_["parts"] = filled_with({extents_[1].value}, 0, [&] {
      const int64_t own = between(0, std::min<int64_t>(3, left));
      left -= own;
      return own;
    });
    Name own{.text = "parts", .kind = integer_kind, .low = 0, .high = 3};
    own.kind.array = {extents_[1]};
    names_.push_back(own);
  }
  for (size_t i = 2 + pick(3); i > 0; --i) {
    const Kind kind = some_kind(false);
    const std::string name = fresh("x");
    line(fmt::format("{} {};", kind_text(kind), name));
    data_[name] =
        filled_with(sizes_of(kind), 0, [&] { return static_cast<double>(between(-150, 150)) / 100; });
    names_.push_back({.text = name, .kind = kind});
  }
  close();
}

void ModelWriter::parameter(int number) {
  Kind kind = some_kind(false);
  const std::string name = fmt::format("p{}", number);
  if (kind.form == Form::matrix && chance(2)) kind.own[1] = kind.own[0];
  if (kind.array.size() > 1) kind.array.pop_back();
  const bool is_square = kind.form == Form::matrix && kind.own[0].value == kind.own[1].value;
  Name own{.text = name, .kind = kind};
  std::string text = kind_text(kind);
  const std::string array = kind.array.empty() ? "" : fmt::format("array[{}] ", kind.array[0].text);
  const std::string size = kind.own.empty() ? "" : fmt::format("[{}]", kind.own[0].text);
  if (kind.form == Form::vector && chance(2)) {
    const std::string word =
        any({"simplex", "ordered", "positive_ordered", "unit_vector", "sum_to_zero_vector"});
    if (kind.own[0].value > 1)
      text = array + word + size, own.positive = word == "simplex" || word == "positive_ordered";
  } else if (is_square && chance(2)) {
    text = array + any({"cholesky_factor_corr", "corr_matrix", "cov_matrix", "cholesky_factor_cov"}) + size;
  } else if (chance(2)) {
    switch (pick(5)) {
      case 0: text = kind_text(kind, "<lower=0>"), own.positive = true; break;
      case 1: text = kind_text(kind, "<upper=1.5>"); break;
      case 2: text = kind_text(kind, "<lower=0.1, upper=2>"), own.positive = true; break;
      case 3: text = kind_text(kind, fmt::format("<offset={}, multiplier={}>", real(1), positive(1))); break;
      default: text = kind_text(kind, fmt::format("<lower={}>", bounded(1))); break;
    }
  }
  line(text + " " + name + ";");
  names_.push_back(own);
}

void ModelWriter::block(const std::string& name, size_t declarations, size_t count) {
  open(name);
  const size_t before = names_.size();
  if (name != "model") {
    for (size_t i = 0; i < declarations; ++i) declare();
    statements(3, count);
    for (Name& one : names_) one.writable = false;
  } else {
    in_model_ = true;
    statements(3, count);
    in_model_ = false;
    names_.resize(before);
  }
  close();
}

void ModelWriter::function() {
  Own own{.text = fresh("f"), .takes = {}, .gives = {}};
  const std::vector<Name> outside = std::exchange(names_, {});
  std::string arguments;
  for (size_t i = 1 + pick(3); i > 0; --i) {
    Kind kind = some_kind(true);
    if (kind.form == Form::integer) kind.array.clear();
    const std::string name = fresh("a");
    arguments += (arguments.empty() ? "" : ", ") + unsized_text(kind) + " " + name;
    names_.push_back({.text = name, .kind = kind, .low = 0, .high = 3, .follows = true});
    own.takes.push_back(kind);
  }
  if (chance(2)) {
    const Extent size = extent();
    own.gives = {.form = chance(2) ? Form::vector : Form::row_vector, .array = {}, .own = {size}};
  }
  open(fmt::format("{} {}({})", unsized_text(own.gives), own.text, arguments));
  statements(2, 1 + pick(3));
  if (chance(3)) line(fmt::format("if ({}) return {};", condition(2), expression(own.gives, 2)));
  if (chance(4)) {
    const std::string round = fresh("i");
    open(fmt::format("for ({} in 1:{})", round, between(2, 10)));
    names_.push_back({.text = round, .kind = integer_kind, .low = 1, .high = 10});
    line(fmt::format("if ({}) return {};", condition(2), expression(own.gives, 1)));
    close();
    names_.pop_back();
  }
  line(fmt::format("return {};", expression(own.gives, 2)));
  close();
  names_ = outside;
  own_.push_back(own);
}

RandomModel ModelWriter::model() {
  data_block();
  const std::string data = std::exchange(out_, {});
  if (chance(2)) {  // sizes are numbers there: no data are in scope
    const std::vector<Extent> named = extents_;
    for (Extent& one : extents_) one.text = std::to_string(one.value);
    open("functions");
    for (size_t i = 1 + pick(2); i > 0; --i) function();
    if (chance(2)) own_distribution();
    if (chance(2)) left_ = 4, target_function();
    close();
    extents_ = named;
    left_ = 5;
  }
  const std::string own = std::exchange(out_, {});
  if (chance(2)) block("transformed data", 1 + pick(2), pick(3));
  open("parameters");
  for (int i = 1, count = 2 + static_cast<int>(pick(3)); i <= count; ++i) parameter(i);
  close();
  left_ = chance(3) ? 5 : 3;
  if (chance(2)) block("transformed parameters", 1 + pick(3), pick(4));
  left_ = chance(3) ? 9 : 5;
  const size_t before = names_.size();
  block("model", 0, 1 + pick(4));
  names_.resize(before);
  left_ = 3;
  if (chance(2)) block("generated quantities", 1 + pick(3), pick(3));
  return {own + data + out_, data_};
}

RandomModel random_model(unsigned seed) { return ModelWriter(seed).model(); }

}  // namespace adit::test
