// One group as a piece of a kernel of one team: what a piece writes the next one reads after a barrier.
#pragma once

#include <functional>
#include <memory>

#include "compile/launch.hpp"
#include "compile/rows.hpp"
#include "compile/split_dot.hpp"

namespace adit::compile {

// Is offered a value that all lanes know; true where it keeps it, so that the value need not be stored.
using Keep = std::function<bool(const Node&, const Scalar&)>;

class Piece {
 public:
  // `may_widen`: as of RowsInside.
  Piece(const Group& group, Workshop& shop, kernel::Builder& k, Arguments& arguments, DotRooms& rooms,
        bool may_widen = true);
  // Before any block of the kernel is opened.
  void declare();
  // Without `keep` every result goes to its memory, and lanes have each other's results from there alone.
  void write(const Keep& keep = {});

  const Group& group() const { return group_; }
  Writer& writer() { return rows_ ? rows_->writer() : *loop_; }
  // True where all lanes know the results, so that they may be kept.
  static bool is_known_to_all(const Group& group);

 private:
  void write_loop(const Keep& keep);

  const Group& group_;
  Workshop& shop_;
  kernel::Builder& k_;
  std::unique_ptr<Writer> loop_;
  std::unique_ptr<SplitDots> dots_;
  std::unique_ptr<RowsInside> rows_;
};

}  // namespace adit::compile
