// Random Stan programs that are right.
#pragma once

#include "stan_random_expression.hpp"

namespace adit::test {

class RandomProgram : RandomExpression {
 public:
  explicit RandomProgram(unsigned seed, bool with_comments = true) : RandomExpression(seed, with_comments) {}

  std::string text() {
    if (chance(2)) functions();
    if (chance(2)) declarations("data");
    if (chance(2)) statements_block("transformed data");
    if (chance(2)) declarations("parameters");
    if (chance(2)) statements_block("transformed parameters");
    if (!chance(4)) statements_block("model");
    if (chance(2)) statements_block("generated quantities");
    return std::move(out_);
  }

 private:
  void sizes(size_t count) {
    put("[");
    list(count, count, [&] { expression(1); });
    put("]");
  }
  void constraint(bool is_integer) {
    if (!chance(2)) return;
    put("<");
    const bool bounds = is_integer || chance(2);
    std::string first = bounds ? "lower" : "offset", second = bounds ? "upper" : "multiplier";
    if (chance(2)) std::swap(first, second);
    words({first.c_str(), "="});
    expression(2, true);
    if (chance(2)) {
      words({",", second.c_str(), "="});
      expression(2, true);
    }
    put(">");
  }
  void type(bool constrained, int depth = 2) {
    if (chance(3)) {
      put("array");
      sizes(1 + pick(3));
    }
    if (depth > 0 && chance(8)) {
      words({"tuple", "("});
      list(2, 3, [&] { type(constrained, depth - 1); });
      return put(")");
    }
    if (constrained && chance(3)) {
      static const std::vector<std::pair<std::string, size_t>> special = {{"simplex", 1},
                                                                          {"ordered", 1},
                                                                          {"cholesky_factor_cov", 2},
                                                                          {"cholesky_factor_cov", 1},
                                                                          {"corr_matrix", 1},
                                                                          {"sum_to_zero_matrix", 2},
                                                                          {"row_stochastic_matrix", 2},
                                                                          {"unit_vector", 1}};
      const auto& [word, count] = special[pick(special.size())];
      put(word);
      return sizes(count);
    }
    static const std::vector<std::pair<std::string, size_t>> plain = {
        {"int", 0}, {"real", 0}, {"vector", 1}, {"row_vector", 1}, {"matrix", 2}};
    const auto& [word, count] = plain[pick(plain.size())];
    put(word);
    if (constrained) constraint(word == "int");
    if (count > 0) sizes(count);
  }
  void declaration(bool constrained, bool valued) {
    const size_t before = out_.size();
    type(constrained);
    const bool has_array = out_.compare(before, 5, "array") == 0;
    list(1, 3, [&] {
      put(name());
      if (!has_array && chance(4)) sizes(1 + pick(2));
      if (valued && chance(3)) {
        put("=");
        expression(3);
      }
    });
    put(";");
  }
  void declarations(const char* block) {
    words({block, "{"});
    for (size_t i = pick(5); i > 0; --i) declaration(true, false);
    put("}");
  }
  void statements_block(const std::string& block) {
    words({block.c_str(), "{"});
    for (size_t i = pick(5); i > 0; --i)
      if (chance(3))
        declaration(block != "model", true);
      else
        statement(3);
    put("}");
  }
  void target(int depth) {
    if (depth > 0 && chance(8)) {
      put("(");
      list(2, 3, [&] { target(depth - 1); });
      return put(")");
    }
    put(name());
    for (size_t i = pick(3); i > 0; --i) {
      if (chance(3)) {
        put("." + std::to_string(1 + pick(3)));
        continue;
      }
      put("[");
      list(1, 2, [&] { index(1); });
      put("]");
    }
  }
  void block(int depth) {
    put("{");
    for (size_t i = pick(4); i > 0; --i)
      if (chance(4))
        declaration(false, true);
      else
        statement(depth - 1);
    put("}");
  }
  void body(int depth) {
    if (chance(2))
      block(depth);
    else
      statement(depth - 1);
  }
  void statement(int depth) {
    const size_t kind = pick(depth > 0 ? 16 : 10);
    switch (kind) {
      case 0:
      case 1:
        target(1);
        put("=");
        expression(4);
        break;
      case 2:
        put(name());
        put(any({"+=", "-=", "*=", "/=", ".*=", "./="}));
        expression(3);
        break;
      case 3:
        put(any({"target", "jacobian"}));
        put("+=");
        expression(4);
        break;
      case 4:
        put(name());  // an array in braces would be a block here
        if (chance(2)) {
          put("*");
          expression(1);
        }
        put("~");
        put(any({"normal", "multi_normal_cholesky"}));
        put("(");
        list(0, 4, [&] { expression(2); });
        put(")");
        if (chance(3)) {
          words({"T", "["});
          if (chance(2)) expression(1);
          put(",");
          if (chance(2)) expression(1);
          put("]");
        }
        break;
      case 5:
        words({"f", "("});
        list(0, 3, [&] { expression(2); });
        put(")");
        break;
      case 6: put(any({"break", "continue", ""})); break;
      case 7:
        put("return");
        if (chance(2)) expression(3);
        break;
      case 8:
      case 9:
        put(any({"print", "reject", "fatal_error"}));
        put("(");
        list(0, 4, [&] {
          if (chance(2))
            put("\"some // text; {\"");
          else
            expression(2);
        });
        put(")");
        break;
      case 10: return block(depth);
      case 11:
        words({"for", "(", "i", "in"});
        expression(1);
        put(":");
        expression(1);
        put(")");
        return body(depth);
      case 12:
        words({"for", "(", "i", "in"});
        expression(1);
        put(")");
        return body(depth);
      case 13:
        words({"while", "("});
        expression(2);
        put(")");
        return body(depth);
      case 14: words({"profile", "(", "\"part\"", ")"}); return block(depth);
      default:
        words({"if", "("});
        expression(2);
        put(")");
        block(depth);
        if (chance(2)) {
          put("else");
          body(depth);
        }
        return;
    }
    put(";");
  }
  void unsized_type(int depth = 1) {
    if (chance(3)) put(any({"array[]", "array[,]"}));
    if (depth > 0 && chance(6)) {
      words({"tuple", "("});
      list(2, 3, [&] { unsized_type(depth - 1); });
      return put(")");
    }
    put(any({"int", "real", "vector", "row_vector", "matrix"}));
  }
  void functions() {
    words({"functions", "{"});
    for (size_t i = pick(3); i > 0; --i) {
      if (chance(4))
        put("void");
      else
        unsized_type();
      put(any({"f", "foo_lpdf", "bar_rng", "baz_lp"}));
      put("(");
      list(0, 6, [&] {
        if (chance(4)) put("data");
        unsized_type();
        put(name());
      });
      put(")");
      if (chance(4))
        put(";");
      else
        block(3);
    }
    put("}");
  }
};

}  // namespace adit::test
