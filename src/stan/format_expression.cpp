#include "stan/format_expression.hpp"

namespace adit::stan {

namespace {

const char* written_type(const SizedType& type) {
  switch (type.transform.kind) {
    case Transform::Kind::ordered: return "ordered";
    case Transform::Kind::positive_ordered: return "positive_ordered";
    case Transform::Kind::simplex: return "simplex";
    case Transform::Kind::unit_vector: return "unit_vector";
    case Transform::Kind::sum_to_zero_vector: return "sum_to_zero_vector";
    case Transform::Kind::sum_to_zero_matrix: return "sum_to_zero_matrix";
    case Transform::Kind::cholesky_factor_corr: return "cholesky_factor_corr";
    case Transform::Kind::cholesky_factor_cov: return "cholesky_factor_cov";
    case Transform::Kind::corr_matrix: return "corr_matrix";
    case Transform::Kind::cov_matrix: return "cov_matrix";
    case Transform::Kind::column_stochastic_matrix: return "column_stochastic_matrix";
    case Transform::Kind::row_stochastic_matrix: return "row_stochastic_matrix";
    default: return nullptr;
  }
}

// Operators that are written as one chain where they follow each other.
int chain_of(const Expression& expression) {
  if (expression.kind != Expression::Kind::binary || !expression.name.empty()) return 0;
  switch (expression.op) {
    case Operator::power:
    case Operator::element_power: return 0;
    case Operator::logical_or: return 1;
    case Operator::logical_and: return 2;
    case Operator::equal:
    case Operator::not_equal: return 3;
    case Operator::less:
    case Operator::less_equal:
    case Operator::greater:
    case Operator::greater_equal: return 4;
    case Operator::add:
    case Operator::subtract: return 5;
    case Operator::integer_divide:
    case Operator::left_divide: return 7;
    default: return 6;
  }
}

void write_chain(Layout& layout, const Expression& expression) {
  const Expression& left = *expression.parts[0];
  if (chain_of(left) == chain_of(expression))
    write_chain(layout, left);
  else
    write(layout, &left);
  layout.space_or_break();
  layout.text(std::string(to_text(expression.op)) + ' ');
  write(layout, expression.parts[1].get());
}

void write_binary(Layout& layout, const Expression& expression) {
  if (chain_of(expression) == 0) {
    write(layout, expression.parts[0].get());
    layout.text(std::string(" ") + to_text(expression.op) + ' ');
    write(layout, expression.parts[1].get());
    return;
  }
  layout.open();
  write_chain(layout, expression);
  layout.close();
}

void write_call(Layout& layout, const Expression& call) {
  layout.text(call.name + '(');
  layout.open();
  for (size_t i = 0; i < call.parts.size(); ++i) {
    if (i > 0) layout.text(i == 1 && call.with_bar ? " |" : ",");
    if (i > 0) layout.space_or_break();
    write(layout, call.parts[i].get());
  }
  if (call.with_bar && call.parts.size() == 1) layout.text(" |");
  layout.text(")");
  layout.close();
}

void write_ternary(Layout& layout, const Expression& expression) {
  layout.open();
  write(layout, expression.parts[0].get());
  layout.space_or_break();
  layout.text("? ");
  write(layout, expression.parts[1].get());
  layout.space_or_break();
  layout.text(": ");
  write(layout, expression.parts[2].get());
  layout.close();
}

void write_indices(Layout& layout, const std::vector<Index>& indices) {
  layout.text("[");
  layout.open();
  for (size_t i = 0; i < indices.size(); ++i) {
    if (i > 0) layout.text(",");
    if (i > 0) layout.space_or_break();
    const Index& index = indices[i];
    write(layout, index.low.get());
    if (index.kind != Index::Kind::single) layout.text(":");
    write(layout, index.high.get());
  }
  layout.text("]");
  layout.close();
}

void write_bracketed(Layout& layout, const char* open, const std::vector<ExpressionPtr>& list,
                     const char* close) {
  layout.text(open);
  layout.open();
  write_list(layout, list);
  layout.text(close);
  layout.close();
}

void write_constraint(Layout& layout, const Transform& transform) {
  const bool is_bound = transform.kind == Transform::Kind::lower ||
                        transform.kind == Transform::Kind::upper ||
                        transform.kind == Transform::Kind::lower_upper;
  layout.text("<");
  layout.open();
  if (transform.first) {
    layout.text(is_bound ? "lower=" : "offset=");
    write(layout, transform.first.get());
  }
  if (transform.first && transform.second) {
    layout.text(",");
    layout.space_or_break();
  }
  if (transform.second) {
    layout.text(is_bound ? "upper=" : "multiplier=");
    write(layout, transform.second.get());
  }
  layout.text(">");
  layout.close();
}

}  // namespace

void write_list(Layout& layout, const std::vector<ExpressionPtr>& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) layout.text(",");
    if (i > 0) layout.space_or_break();
    write(layout, list[i].get());
  }
}

void write(Layout& layout, const Expression* expression) {
  if (expression == nullptr) return;
  const Expression& e = *expression;
  switch (e.kind) {
    case Expression::Kind::integer:
    case Expression::Kind::real:
    case Expression::Kind::imaginary:
    case Expression::Kind::variable: return layout.text(e.name);
    case Expression::Kind::target: return layout.text("target()");
    case Expression::Kind::call: return write_call(layout, e);
    case Expression::Kind::binary: return e.name.empty() ? write_binary(layout, e) : write_call(layout, e);
    case Expression::Kind::ternary: return write_ternary(layout, e);
    case Expression::Kind::array: return write_bracketed(layout, "{", e.parts, "}");
    case Expression::Kind::row: return write_bracketed(layout, "[", e.parts, "]");
    case Expression::Kind::tuple:
      return write_bracketed(layout, "(", e.parts, e.parts.size() == 1 ? ",)" : ")");
    case Expression::Kind::group: return write_bracketed(layout, "(", e.parts, ")");
    case Expression::Kind::prefix:
      if (!e.name.empty()) return write_call(layout, e);
      layout.text(to_text(e.op));
      return write(layout, e.parts[0].get());
    case Expression::Kind::postfix: write(layout, e.parts[0].get()); return layout.text("'");
    case Expression::Kind::index: write(layout, e.parts[0].get()); return write_indices(layout, e.indices);
    case Expression::Kind::member:
      write(layout, e.parts[0].get());
      // 1.2 would be a number.
      return layout.text((e.parts[0]->kind == Expression::Kind::integer ? " ." : ".") +
                         std::to_string(e.integer));
  }
}

void write(Layout& layout, const SizedType& type) {
  if (!type.array_sizes.empty()) {
    write_bracketed(layout, "array[", type.array_sizes, "]");
    layout.text(" ");
  }
  if (const char* word = written_type(type)) {
    layout.text(word);
  } else if (type.base == Base::tuple) {
    layout.text("tuple(");
    layout.open();
    for (size_t i = 0; i < type.members.size(); ++i) {
      if (i > 0) layout.text(",");
      if (i > 0) layout.space_or_break();
      write(layout, type.members[i]);
    }
    layout.text(type.members.size() == 1 ? ",)" : ")");
    layout.close();
  } else {
    layout.text(to_text(scalar_type(type.base)));
    if (type.transform.kind != Transform::Kind::none) write_constraint(layout, type.transform);
  }
  if (!type.sizes.empty()) write_bracketed(layout, "[", type.sizes, "]");
}

void write(Layout& layout, const Target& target) {
  if (target.parts.empty()) {
    layout.text(target.name);
    for (const Target::Step& step : target.steps)
      if (step.indices.empty())
        layout.text('.' + std::to_string(step.member));
      else
        write_indices(layout, step.indices);
    return;
  }
  layout.text("(");
  for (size_t i = 0; i < target.parts.size(); ++i) {
    if (i > 0) layout.text(", ");
    write(layout, target.parts[i]);
  }
  layout.text(target.parts.size() == 1 ? ",)" : ")");
}

}  // namespace adit::stan
