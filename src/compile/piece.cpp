#include "compile/piece.hpp"

namespace adit::compile {

using kernel::Type;

Piece::Piece(const Group& group, Workshop& shop, kernel::Builder& k, Arguments& arguments, DotRooms& rooms,
             bool may_widen)
    : group_(group), shop_(shop), k_(k) {
  if (group.form == Group::Form::rows) {
    rows_ = std::make_unique<RowsInside>(group, shop, k, arguments, may_widen);
    return;
  }
  loop_ =
      std::make_unique<Writer>(k, arguments, shop.partition, group, index_type_for(group, shop.partition));
  dots_ = std::make_unique<SplitDots>(group, shop.partition, rooms);
}

void Piece::declare() { declare_arguments(writer(), group_, shop_.partition); }

bool Piece::is_known_to_all(const Group& group) {
  return group.form == Group::Form::rows ? group.row_count() == 1 : element_count(group.roots[0]->shape) == 1;
}

void Piece::write(const Keep& keep) {
  if (rows_)
    rows_->write(keep);
  else
    write_loop(keep);
}

void Piece::write_loop(const Keep& keep) {
  const Shape& shape = group_.roots[0]->shape;
  if (is_known_to_all(group_))
    dots_->fix_whole(*loop_);
  else
    dots_->write_parts(*loop_);
  if (!keep || !is_known_to_all(group_)) {
    k_.each(k_.constant(Type::u32, element_count(shape)), [&](Value i) {
      const Writer::Scope scope(*loop_);
      if (!is_known_to_all(group_)) dots_->fix_sums(*loop_, i);
      store_roots(*loop_, group_, Index(k_, shape, convert(i, loop_->index_type())));
    });
    return;
  }
  const Index at(k_, shape, loop_->number(0));
  std::vector<std::pair<const Node*, Scalar>> rest;
  for (const Node* root : group_.roots) {
    const Scalar value = loop_->read(*root, at.reshaped(root->shape));
    if (!keep(*root, value)) rest.emplace_back(root, value);
  }
  if (rest.empty()) return;
  k_.once([&] {
    for (const auto& [root, value] : rest) loop_->store(*root, at.reshaped(root->shape), value);
  });
}

}  // namespace adit::compile
