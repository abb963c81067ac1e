#include "ops/waiting.hpp"

namespace adit::ops {

using namespace kernel;

Program clear_words() {
  Builder k("clear_words", Team::one());
  const Array words = k.buffer("words", Type::u64, Access::write);
  const Value ones = k.constant(Type::u64, ~uint64_t{0});
  words.store(k.team(Type::u64), k.pack({ones, ones}));
  return k.finish();
}

}  // namespace adit::ops
