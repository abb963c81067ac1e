#include "stan/checker.hpp"
#include "stan/signature.hpp"
#include "stan/signature_words.hpp"

namespace adit::stan {

namespace {

bool is_plain_operand(const Type& type) {  // no arrays
  return type.array == 0 && (type.is_scalar() || type.base == Base::vector || type.base == Base::row_vector ||
                             type.base == Base::matrix);
}

Type scalar_result(const Type& a, const Type& b) {
  return scalar_type(a.is(Base::integer) && b.is(Base::integer) ? Base::integer : Base::real);
}

// Element by element: scalars with anything, containers with their like.
std::optional<Type> elementwise_type(const Type& a, const Type& b) {
  if (!is_plain_operand(a) || !is_plain_operand(b)) return std::nullopt;
  if (a.is_scalar() && b.is_scalar()) return scalar_result(a, b);
  if (a.is_scalar()) return b;
  if (b.is_scalar() || a.base == b.base) return a;
  return std::nullopt;
}

std::optional<Type> product_type(const Type& a, const Type& b) {
  if (!is_plain_operand(a) || !is_plain_operand(b)) return std::nullopt;
  if (a.is_scalar() || b.is_scalar()) return elementwise_type(a, b);
  if (a.is(Base::vector))
    return b.is(Base::row_vector) ? std::optional(scalar_type(Base::matrix)) : std::nullopt;
  if (b.is(Base::row_vector)) return std::nullopt;
  if (a.is(Base::row_vector))
    return b.is(Base::vector) ? scalar_type(Base::real) : scalar_type(Base::row_vector);
  return b;  // matrix times vector or matrix
}

std::optional<Type> quotient_type(const Type& a, const Type& b) {
  if (!is_plain_operand(a) || !is_plain_operand(b)) return std::nullopt;
  if (a.is_scalar() || b.is_scalar()) return elementwise_type(a, b);
  if (b.is(Base::matrix) && !a.is(Base::vector)) return a;
  return std::nullopt;
}

std::optional<Type> power_type(const Type& a, const Type& b) {
  const Resolved resolved = resolve("pow", {a, b});
  return resolved.found ? std::optional(resolved.result) : std::nullopt;
}

}  // namespace

std::optional<Type> operator_type(Operator op, const Type& left, const Type& right) {
  const auto when = [](bool fits) { return fits ? std::optional(scalar_type(Base::integer)) : std::nullopt; };
  switch (op) {
    case Operator::add:
    case Operator::subtract:
    case Operator::element_multiply:
    case Operator::element_divide: return elementwise_type(left, right);
    case Operator::multiply: return product_type(left, right);
    case Operator::divide: return quotient_type(left, right);
    case Operator::left_divide:
      if (!left.is(Base::matrix) || !(right.is(Base::vector) || right.is(Base::matrix))) return std::nullopt;
      return right;
    case Operator::power:
    case Operator::element_power: return power_type(left, right);
    case Operator::integer_divide:
    case Operator::modulo:
    case Operator::logical_or:
    case Operator::logical_and: return when(left.is(Base::integer) && right.is(Base::integer));
    case Operator::equal:
    case Operator::not_equal:
    case Operator::less:
    case Operator::less_equal:
    case Operator::greater:
    case Operator::greater_equal: return when(left.is_scalar() && right.is_scalar());
    default: return std::nullopt;
  }
}

std::optional<Type> operator_type(Operator op, const Type& operand) {
  const bool is_number = operand.base == Base::integer || operand.base == Base::real ||
                         operand.base == Base::vector || operand.base == Base::row_vector ||
                         operand.base == Base::matrix;
  switch (op) {
    case Operator::minus: return is_number ? std::optional(operand) : std::nullopt;
    case Operator::plus: return is_plain_operand(operand) ? std::optional(operand) : std::nullopt;
    case Operator::logical_not: return operand.is(Base::integer) ? std::optional(operand) : std::nullopt;
    case Operator::transpose:
      if (operand.is(Base::vector)) return scalar_type(Base::row_vector);
      if (operand.is(Base::row_vector)) return scalar_type(Base::vector);
      return operand.is(Base::matrix) ? std::optional(operand) : std::nullopt;
    default: return std::nullopt;
  }
}

std::span<const OperatorName> operator_names() {
  static constexpr OperatorName all[] = {{"add", Operator::add, 2},
                                         {"divide", Operator::divide, 2},
                                         {"elt_divide", Operator::element_divide, 2},
                                         {"elt_multiply", Operator::element_multiply, 2},
                                         {"logical_and", Operator::logical_and, 2},
                                         {"logical_eq", Operator::equal, 2},
                                         {"logical_gt", Operator::greater, 2},
                                         {"logical_gte", Operator::greater_equal, 2},
                                         {"logical_lt", Operator::less, 2},
                                         {"logical_lte", Operator::less_equal, 2},
                                         {"logical_negation", Operator::logical_not, 1},
                                         {"logical_neq", Operator::not_equal, 2},
                                         {"logical_or", Operator::logical_or, 2},
                                         {"minus", Operator::minus, 1},
                                         {"multiply", Operator::multiply, 2},
                                         {"plus", Operator::plus, 1},
                                         {"subtract", Operator::subtract, 2}};
  return all;
}

const OperatorName* operator_named(const std::string& name) {
  for (const OperatorName& one : operator_names())
    if (name == one.name) return &one;
  return nullptr;
}

std::optional<Type> common_type(const Type& a, const Type& b) {
  if (promotions(b, a)) return a;
  if (promotions(a, b)) return b;
  if (a.base != Base::tuple || b.base != Base::tuple || a.array != b.array ||
      a.members.size() != b.members.size())
    return std::nullopt;
  Type both = a;  // members may go either way
  for (size_t i = 0; i < a.members.size(); ++i) {
    const auto member = common_type(a.members[i], b.members[i]);
    if (!member) return std::nullopt;
    both.members[i] = *member;
  }
  return both;
}

bool is_assignable(const Type& to, const Type& from) { return promotions(from, to).has_value(); }

std::string to_text(const std::vector<Type>& types) {
  std::string text;
  for (const Type& type : types) text += (text.empty() ? "" : ", ") + to_text(type);
  return "(" + text + ")";
}

}  // namespace adit::stan
