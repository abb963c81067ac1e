#include "oracle_uses.hpp"

#include "stan/signature.hpp"

namespace adit::test {

namespace {

using namespace adit::stan;

class UsesReader {
 public:
  UsesReader(const Program& program, Uses& uses) : uses_(uses) {
    for (const auto& function : program.functions) read(function->body);
    for (const Block& block : program.blocks)
      for (const StatementPtr& one : block.statements) read(one);
    for (const StatementPtr& one : program.block(BlockKind::parameters).statements)
      for (const Declaration& declaration : one->declarations) read_transform(declaration.type);
  }

 private:
  void read_transform(const SizedType& type) {
    uses_.transforms.insert(type.transform.kind);
    for (const SizedType& member : type.members) read_transform(member);
  }

  void read(const SizedType& type) {
    for (const auto* list : {&type.array_sizes, &type.sizes})
      for (const ExpressionPtr& one : *list) read(one);
    read(type.transform.first), read(type.transform.second);
    for (const SizedType& member : type.members) read(member);
  }

  void read(const Target& target) {
    for (const Target::Step& step : target.steps)
      for (const Index& index : step.indices) {
        uses_.written.insert(index.kind);
        read(index.low), read(index.high);
      }
    for (const Target& part : target.parts) read(part);
  }

  void read(const ExpressionPtr& e) {
    if (!e) return;
    uses_.expressions.insert(e->kind);
    using Kind = Expression::Kind;
    if (e->kind == Kind::call && e->function == nullptr) uses_.functions.insert(e->name);
    if (e->kind == Kind::binary || e->kind == Kind::prefix || e->kind == Kind::postfix)
      uses_.operators.insert(e->op);
    for (const ExpressionPtr& part : e->parts) read(part);
    for (const Index& index : e->indices) {
      uses_.read.insert(index.kind);
      read(index.low), read(index.high);
    }
  }

  void read(const StatementPtr& s) {
    if (!s) return;
    uses_.statements.insert(s->kind);
    if (s->compound) uses_.compound.insert(*s->compound);
    if (s->kind == Statement::Kind::tilde && s->function == nullptr)
      for (const char* suffix : {"_lpdf", "_lpmf"})
        if (is_builtin(s->name + suffix)) uses_.functions.insert(s->name + suffix);
    if (s->truncation.present)
      uses_.truncations.insert(!s->truncation.high ? "low" : !s->truncation.low ? "high" : "both");
    for (const Declaration& declaration : s->declarations) read(declaration.type), read(declaration.value);
    read(s->target);
    for (const auto* e : {&s->value, &s->low, &s->high, &s->truncation.low, &s->truncation.high}) read(*e);
    for (const ExpressionPtr& one : s->arguments) read(one);
    for (const Statement::Piece& piece : s->pieces) read(piece.value);
    read(s->body), read(s->otherwise);
    for (const StatementPtr& one : s->statements) read(one);
  }

  Uses& uses_;
};

}  // namespace

void add_uses(const Program& program, Uses& uses) { UsesReader(program, uses); }

}  // namespace adit::test
