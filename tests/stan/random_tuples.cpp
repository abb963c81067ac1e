// Tuples and arrays of them, functions that add to the target, and distributions of the program's own.
#include <fmt/format.h>

#include "random_writer.hpp"

namespace adit::test {

// A number and a list, written as a whole and by member, read back into names of their own.
void ModelWriter::tuples() {
  const Extent size = extent();
  const Kind list_kind{.form = chance(2) ? Form::vector : Form::row_vector, .array = {}, .own = {size}};
  const std::string name = fresh("t"), kind = fmt::format("tuple(real, {})", kind_text(list_kind));
  line(fmt::format("{} {} = ({}, {});", kind, name, real(1), expression(list_kind, 1)));
  const std::string round = fresh("i");
  if (chance(2)) {
    open(fmt::format("for ({} in 1:{})", round, size.text));
    names_.push_back({.text = round,
                      .kind = {.form = Form::integer, .array = {}, .own = {}},
                      .low = 1,
                      .high = size.value});
    ++loops_;
    if (chance(2))
      line(fmt::format("{}.2[{}] {} tanh({});", name, round, any({"=", "+="}), real(2)));
    else
      line(fmt::format("{}.1 = 0.5 * tanh({}.1) + {}.2[{}] * {};", name, name, name, round, bounded(1)));
    --loops_;
    names_.pop_back();
    close();
  } else if (chance(2)) {
    line(fmt::format("{} = ({}.1 * {}, {});", name, name, bounded(1), expression(list_kind, 2)));
  }
  const std::string number_name = fresh("v"), list_name = fresh("v");
  if (chance(2)) {
    line(fmt::format("real {} = {}.1;", number_name, name));
    line(fmt::format("{} {} = {}.2;", kind_text(list_kind), list_name, name));
  } else {
    line(fmt::format("real {};", number_name));
    line(fmt::format("{} {};", kind_text(list_kind), list_name));
    line(fmt::format("({}, {}) = {};", number_name, list_name, name));
  }
  names_.push_back({.text = number_name, .kind = {}, .writable = true});
  names_.push_back({.text = list_name, .kind = list_kind, .writable = true});
}

// Filled in a loop and summed in another.
void ModelWriter::array_of_tuples() {
  const Extent size = extent(), own = extent();
  const Kind list_kind{.form = Form::vector, .array = {}, .own = {own}};
  const std::string name = fresh("t"), sum = fresh("v"), total = fresh("v");
  line(fmt::format("array[{}] tuple(real, {}) {};", size.text, kind_text(list_kind), name));
  const auto begin = [&] {
    const std::string round = fresh("i");
    open(fmt::format("for ({} in 1:{})", round, size.text));
    names_.push_back({.text = round,
                      .kind = {.form = Form::integer, .array = {}, .own = {}},
                      .low = 1,
                      .high = size.value});
    ++loops_;
    return round;
  };
  const auto end = [&] { --loops_, names_.pop_back(), close(); };
  const std::string first = begin();
  line(fmt::format("{}[{}] = ({}, {});", name, first, real(2), expression(list_kind, 1)));
  end();
  line(fmt::format("real {} = 0;", sum));
  line(fmt::format("{} {} = {};", kind_text(list_kind), total, expression(list_kind, 0)));
  const std::string second = begin();
  line(fmt::format("{} += {}[{}].1 * {};", sum, name, second, bounded(1)));
  line(fmt::format("{} += {}[{}].2 * {};", total, name, second, bounded(1)));
  end();
  names_.push_back({.text = sum, .kind = {}, .writable = true});
  names_.push_back({.text = total, .kind = list_kind, .writable = true});
}

// void f_lp(...), whose body adds to the target.
void ModelWriter::target_function() {
  Own own{.text = fresh("f") + "_lp", .takes = {}, .gives = {}};
  const std::vector<Name> outside = std::exchange(names_, {});
  std::string arguments;
  for (size_t i = 1 + pick(3); i > 0; --i) {
    const Kind kind = some_kind(false);
    const std::string name = fresh("a");
    arguments += (arguments.empty() ? "" : ", ") + unsized_text(kind) + " " + name;
    names_.push_back({.text = name, .kind = kind});
    own.takes.push_back(kind);
  }
  open(fmt::format("void {}({})", own.text, arguments));
  in_model_ = true, in_block_ = false;
  statements(2, 1 + pick(2));
  accumulate();
  in_model_ = false, in_block_ = true;
  close();
  names_ = outside;
  target_functions_.push_back(own);
}

bool ModelWriter::target_call() {
  if (target_functions_.empty() || !in_model_) return false;
  const Own& own = target_functions_[pick(target_functions_.size())];
  std::string arguments;
  for (const Kind& takes : own.takes) arguments += (arguments.empty() ? "" : ", ") + expression(takes, 1);
  line(fmt::format("{}({});", own.text, arguments));
  return true;
}

// real d_lpdf(real | real, real), which `~` may name.
void ModelWriter::own_distribution() {
  const std::string name = fresh("d");
  const std::vector<Name> outside = std::exchange(names_, {});
  open(fmt::format("real {}_lpdf(real y, real m, real s)", name));
  for (const char* argument : {"y", "m"}) names_.push_back({.text = argument, .kind = {}});
  names_.push_back({.text = "s", .kind = {}, .positive = true});
  if (chance(2)) line(fmt::format("if ({}) return {};", condition(1), bounded(2)));
  line(fmt::format("return normal_lpdf(y | m, 0.1 + abs(s)) + {};", bounded(2)));
  close();
  names_ = outside;
  distributions_.push_back(name);
}

bool ModelWriter::own_tilde() {
  if (distributions_.empty() || !in_model_) return false;
  const std::string& name = distributions_[pick(distributions_.size())];
  if (chance(2))
    line(fmt::format("{} ~ {}({}, {});", real(1), name, real(2), positive(1)));
  else
    line(fmt::format("target += {}_lpdf({} | {}, {});", name, real(1), real(2), positive(1)));
  return true;
}

}  // namespace adit::test
