// Tables that nested loops fill: places that follow from both loop variables, in triangles, by diagonals, by
// blocks, from both ends, of what earlier rounds wrote.
#include <fmt/format.h>

#include "random_writer.hpp"

namespace adit::test {

void ModelWriter::tables() {
  const int64_t size = between(5, 9);
  const std::string name = fresh("t"), n = std::to_string(size);
  line(fmt::format("matrix[{}, {}] {} = rep_matrix({}, {}, {});", n, n, name, number(), n, n));
  for (size_t i = 1 + pick(3); i > 0; --i) table_loops(name, size);
  const Extent extent{n, size};
  names_.push_back(
      {.text = name, .kind = {.form = Form::matrix, .array = {}, .own = {extent, extent}}, .writable = true});
}

// Loops that write to a square table. In its statements `t` stands for the table, `n` for its size.
void ModelWriter::table_loops(const std::string& table, int64_t size) {
  const size_t before = names_.size();
  const std::string i = fresh("i"), j = fresh("j"), n = std::to_string(size);
  const auto text = [&](std::string words) {
    for (const auto& [letter, what] : {std::pair{'t', table}, {'n', n}, {'i', i}, {'j', j}})
      for (size_t at = 0; (at = words.find(std::string("$") + letter, at)) != std::string::npos;)
        words.replace(at, 2, what), at += what.size();
    return words;
  };
  int opened = 0;
  const auto loop = [&](const std::string& variable, const std::string& range) {
    open(text(fmt::format("for ({} in {})", variable, range)));
    names_.push_back(
        {.text = variable, .kind = {.form = Form::integer, .array = {}, .own = {}}, .low = 1, .high = size});
    ++loops_, ++opened;
  };
  const auto put = [&](const std::string& place, const std::string& value) {
    line(text(place) + " = " + value + ";");
  };
  const auto some = [&] { return fmt::format("tanh({})", real(1)); };
  switch (pick(9)) {
    case 0:  // both triangles
      loop(i, chance(2) ? "2:$n" : "1:$n");
      loop(j, "1:($i - 1)");
      put("$t[$i, $j]", some());
      put("$t[$j, $i]", chance(2) ? text("$t[$i, $j]") : some());
      break;
    case 1:
      loop(i, "1:$n");
      put(chance(2) ? "$t[$i, $i]" : "$t[$i, $n + 1 - $i]", some());
      break;
    case 2:  // by diagonals, of the diagonals before
      loop(i, "1:($n - 1)");
      loop(j, "1:($n - $i)");
      put("$t[$j, $j + $i]", text("0.4 * $t[$j, $j + $i - 1] + 0.3 * tanh($t[$j + 1, $j + $i]) + ") + some());
      break;
    case 3: {  // what an earlier statement of an earlier round wrote
      const std::string list = fresh("v");
      line(fmt::format("vector[{}] {};", n, list));
      loop(i, "2:$n");
      put(list + "[$i - 1]", some());
      loop(j, "1:($i - 1)");
      put("$t[$i, $j]", text(list + "[$i - $j]"));
      if (chance(2)) put("$t[$j, $i]", text(list + "[$i - $j] + $t[$i, $j]"));
      break;
    }
    case 4:  // rows of rows before, from both ends
      loop(i, "2:$n");
      if (chance(2)) put("$t[$i, $i]", some());
      loop(j, "1:($i - 1)");
      put("$t[$i, $j]", text("0.7 * $t[$i - 1, $j] - 0.3 * tanh($t[$i, $i]) * $t[$i - 1, $i - $j]"));
      break;
    case 5:  // blocks
      loop(i, fmt::format("1:{}", size / 2));
      put(chance(2) ? "$t[(2 * $i - 1):(2 * $i), (2 * $i - 1):(2 * $i)]" : "$t[$i:($i + 1), 1:2]",
          fmt::format("[[{}, {}], [{}, {}]]", some(), some(), some(), some()));
      break;
    case 6:  // some of it under a condition
      loop(i, "1:$n");
      if (chance(2)) loop(j, chance(2) ? "1:$n" : "$i:$n");
      open(fmt::format("if ({})", condition(2)));
      put("$t[$i, 1]", some());
      if (chance(2)) line(text("$t[$i, 2] = 0.5 * $t[$i, 1] + 0.1 * $t[$i, 3];"));
      put("$t[$i, 3]", some());
      if (chance(2)) {
        --indent_;
        open(chance(2) ? "} else" : fmt::format("}} else if ({})", condition(2)));
        put(chance(2) ? "$t[$i, 3]" : "$t[$i, 2]", some());
      }
      close();
      break;
    case 7:  // what later rounds have yet to write, or earlier ones wrote just now
      loop(i, "2:($n - 1)");
      put("$t[$i, 2]", some());
      put("$t[$i, 1]", text(any({"0.5 * $t[$i + 1, 1]", "0.5 * $t[$i - 1, 2]", "0.5 * $t[$i + 1, 2]",
                                 "0.5 * $t[$i - 1, 1] + $t[$i, 2]"})));
      break;
    default:  // columns and rows in turn
      loop(i, "1:($n - 1)");
      put("$t[$i, ($i + 1):$n]", text("0.5 * $t[$i, ($i + 1):$n] + 0.1 * $t[1, ($i + 1):$n]"));
      if (chance(2)) put("$t[($i + 1):$n, $i]", text("$t[$i, ($i + 1):$n]'"));
      break;
  }
  for (; opened > 0; --opened) close(), --loops_;
  names_.resize(before);
}

}  // namespace adit::test
