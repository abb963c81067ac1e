#include "spirv/matrix.hpp"

#include <algorithm>
#include <fmt/format.h>

#include <adit/error.hpp>

#include "spirv/cooperative.hpp"

namespace adit::spirv {

using kernel::Instruction;
using kernel::MatrixForm;
using kernel::MatrixShape;
using spv::Op;
using KernelOp = kernel::Op;

namespace {

Word component_type(Code& code, Type t) {
  code.need(t == Type::bf16 || !is_small(t), "cooperative matrices of 8- or 16-bit integers");
  if (t != Type::bf16) return code.type(t);
  code.need(code.target.bfloat16_matrices, "bf16 in cooperative matrices");
  code.module.extension(cooperative::bfloat16_extension);
  code.module.capability(cooperative::bfloat16_type);
  code.module.capability(cooperative::bfloat16_matrix);
  return code.module.type(Op::OpTypeFloat, {16, cooperative::bfloat16_encoding});
}

void need_product(Code& code, const Instruction& it) {
  const Instruction &a = code.program[it.operand[0]], &b = code.program[it.operand[1]];
  const MatrixForm left = MatrixForm::of(a.constant), right = MatrixForm::of(b.constant);
  const MatrixShape wanted{left.rows, right.columns, left.columns, a.type, it.type};
  const auto& all = code.target.matrices;
  code.need(std::find(all.begin(), all.end(), wanted) != all.end(),
            fmt::format("products of {}x{}x{} cooperative matrices of {} into {}", wanted.m, wanted.n,
                        wanted.k, name_of(wanted.operand), name_of(wanted.accumulator)));
}

Word multiply_add(Code& code, const Instruction& it, std::span<const Word> x) {
  need_product(code, it);
  const Word type = matrix_type(code, it);
  const bool is_signed = kernel::is_signed_integer(code.program[it.operand[0]].type);
  if (!is_signed) return code.op(cooperative::multiply_add, type, {x[0], x[1], x[2]});
  constexpr Word all_signed =
      cooperative::signed_a | cooperative::signed_b | cooperative::signed_c | cooperative::signed_result;
  return code.op(cooperative::multiply_add, type, {x[0], x[1], x[2], all_signed});
}

Word transfer(Code& code, Memory& memory, const Instruction& it, std::span<const Word> x) {
  const bool stores = it.op == KernelOp::matrix_store;
  const Word layout = code.u32(static_cast<Word>(MatrixForm::of(it.constant).layout));
  const Word place = memory.matrix_place(it, x[1]);
  Words all{place};
  if (stores) all.push_back(x[3]);
  all.push_back(layout);
  all.push_back(x[2]);
  const Words access = memory.matrix_access(it.operand[0], stores);
  all.insert(all.end(), access.begin(), access.end());
  if (!stores) return code.op(cooperative::load, matrix_type(code, it), all);
  code.plain(cooperative::store, all);
  return 0;
}

Word converted(Code& code, const Instruction& it, Word value) {
  const Type from = code.program[it.operand[0]].type;
  if (from == it.type) return value;
  const Op op = kernel::is_float(it.type)            ? Op::OpFConvert
                : kernel::is_signed_integer(it.type) ? Op::OpSConvert
                                                     : Op::OpUConvert;
  return code.op(op, matrix_type(code, it), {value});
}

}  // namespace

Word matrix_type(Code& code, const Instruction& it) {
  const MatrixForm form = MatrixForm::of(it.constant);
  code.module.capability(cooperative::capability);
  code.module.extension(cooperative::extension);
  const Word scope = code.u32(static_cast<Word>(spv::Scope::Subgroup));
  return code.module.type(cooperative::type_matrix,
                          {component_type(code, it.type), scope, code.u32(form.rows), code.u32(form.columns),
                           code.u32(static_cast<Word>(form.role))});
}

Word matrix(Code& code, Memory& memory, const Instruction& it, std::span<const Word> x) {
  switch (it.op) {
    case KernelOp::matrix_fill: return code.op(Op::OpCompositeConstruct, matrix_type(code, it), {x[0]});
    case KernelOp::matrix_load:
    case KernelOp::matrix_store: return transfer(code, memory, it, x);
    case KernelOp::matrix_multiply_add: return multiply_add(code, it, x);
    case KernelOp::matrix_convert: return converted(code, it, x[0]);
    default: throw Error(ErrorKind::internal, "[spirv] matrix: unknown instruction");
  }
}

}  // namespace adit::spirv
