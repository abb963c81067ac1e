#include "stan/type.hpp"

namespace adit::stan {

namespace {

const char* name_of_base(Base base) {
  switch (base) {
    case Base::integer: return "int";
    case Base::real: return "real";
    case Base::complex: return "complex";
    case Base::vector: return "vector";
    case Base::row_vector: return "row_vector";
    case Base::matrix: return "matrix";
    case Base::tuple: return "tuple";
    case Base::none: return "void";
  }
  return "void";
}

}  // namespace

std::string to_text(const Type& type) {
  std::string text;
  if (type.array > 0) text = "array[" + std::string(static_cast<size_t>(type.array - 1), ',') + "] ";
  text += name_of_base(type.base);
  if (type.base != Base::tuple) return text;
  text += '(';
  for (size_t i = 0; i < type.members.size(); ++i) text += (i == 0 ? "" : ", ") + to_text(type.members[i]);
  return text + (type.members.size() == 1 ? ",)" : ")");
}

}  // namespace adit::stan
