// Random Stan expressions, with comments and spaces anywhere; the same for the same seed.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace adit::test {

class RandomExpression {
 public:
  explicit RandomExpression(unsigned seed, bool with_comments)
      : random_(seed), with_comments_(with_comments) {}

 protected:
  size_t pick(size_t count) { return random_() % count; }
  bool chance(size_t of) { return pick(of) == 0; }
  std::string any(const std::vector<std::string>& words) { return words[pick(words.size())]; }

  void put(const std::string& token) {
    out_ += token;
    const size_t what = pick(with_comments_ ? 40 : 8);
    if (what == 0)
      out_ += "\n";
    else if (what == 1)
      out_ += "\n\n  ";
    else if (what == 10)
      out_ += " // line" + std::to_string(pick(100)) + "  \n";
    else if (what == 11)
      out_ += " /* block" + std::to_string(pick(100)) + " */";
    else if (what == 12)
      out_ += "\n\n/* two\n   lines */ ";
    else if (what == 13)
      out_ += "\n# old\n";
    else
      out_ += what % 2 == 0 ? " " : "  ";
  }
  void words(std::initializer_list<const char*> tokens) {
    for (const char* token : tokens) put(token);
  }
  std::string name() {
    return any(
        {"a", "b", "mu", "sigma", "theta_raw", "x1", "y", "a_rather_long_name_of_a_variable", "T", "low"});
  }

  template <class Item>
  void list(size_t least, size_t most, const Item& item) {
    const size_t count = least + pick(most - least + 1);
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) put(",");
      item();
    }
  }

  void expression(int depth, bool arithmetic = false) {
    if (depth <= 0) return atom();
    switch (pick(14)) {
      case 0:
      case 1:
      case 2:
        expression(depth - 1, arithmetic);
        put(any({"+", "-", "*", "/", ".*", "./", "%", "%/%", "\\", "^", ".^"}));
        return expression(depth - 1, arithmetic);
      case 3:
        if (arithmetic) return atom();
        expression(depth - 1);
        put(any({"||", "&&", "==", "!=", "<", "<=", ">", ">="}));
        return expression(depth - 1);
      case 4: put(any({"-", "+", "!"})); return expression(depth - 1, arithmetic);
      case 5: primary(depth - 1); return put("'");
      case 6:
        primary(depth - 1);
        put("[");
        list(1, 3, [&] { index(depth - 1); });
        return put("]");
      case 7: primary(depth - 1); return put("." + std::to_string(1 + pick(12)));
      case 8:
        if (arithmetic) return atom();
        expression(depth - 1);
        put("?");
        expression(depth - 1);
        put(":");
        return expression(depth - 1);
      default: return primary(depth);
    }
  }
  void primary(int depth) {
    if (depth <= 0) return atom();
    switch (pick(7)) {
      case 0:
        put("(");
        expression(depth - 1);
        return put(")");
      case 1:
        put("(");
        list(2, 4, [&] { expression(depth - 1); });
        return put(")");
      case 2:
        put("{");
        list(1, 6, [&] { expression(depth - 1); });
        return put("}");
      case 3:
        put("[");
        list(0, 6, [&] { expression(depth - 1); });
        return put("]");
      case 4:
        put("foo_lpdf");
        put("(");
        expression(depth - 1);
        put("|");
        list(0, 3, [&] { expression(depth - 1); });
        return put(")");
      case 5:
        put(any({"f", "multi_normal_rng", "log_sum_exp"}));
        put("(");
        list(0, 4, [&] { expression(depth - 1); });
        return put(")");
      default: return atom();
    }
  }
  void atom() {
    if (chance(12)) return words({"target", "(", ")"});
    put(chance(2) ? name()
                  : any({"0", "1", "12", "1_000", "1.5", ".5", "2.", "1e-3", "1.5E+10", "3i", "2147483647"}));
  }
  void index(int depth) {
    const size_t kind = pick(6);
    if (kind == 0) return;
    if (kind == 1 || kind == 2) put(":");
    if (kind == 1) return;
    expression(depth);
    if (kind == 3) put(":");
    if (kind != 4) return;
    put(":");
    expression(depth);
  }

  std::mt19937 random_;
  bool with_comments_;
  std::string out_;
};

}  // namespace adit::test
