// The sampler's random numbers: Philox 4x32 with 10 rounds. A number depends on the seed, the chain, the
// iteration, what it is for and its place alone, so results do not depend on how work was cut.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "density/chain.hpp"

namespace adit::sampling {

enum class Purpose : uint32_t {
  start,     // of a chain; iteration: the attempt
  momentum,  // of a transition
  leaf,   // whether a leaf is taken, and where it is the first of a subtree: the direction, and whether the
          // subtree's proposal is taken; place: its number in the transition
  search  // momentum while a step size is looked for; iteration and place tell which trial
};

// Normal numbers that one call of Philox gives.
inline uint32_t normals_a_call(Type real) { return real == Type::f64 ? 2 : 4; }

// In a kernel
class Stream {
 public:
  Stream(Chain& chain, Value seed_low, Value seed_high, Value chain_number)
      : chain_(chain), seed_{seed_low, seed_high}, number_(chain_number) {}
  std::array<Value, 4> bits(Purpose purpose, Value iteration, Value place) const;
  std::array<Value, 4> bits(Value purpose, Value iteration, Value place) const;
  // From [0, 1); f64 takes two words each, of which there are two then, f32 one. The lowest bits of a word
  // are not in it.
  Value uniform(const std::array<Value, 4>& bits, int which) const;
  // Standard normals: elements i * normals_a_call() and on of a vector of them.
  std::vector<Value> normals(Value purpose, Value iteration, Value trial, Value i) const;
  uint32_t normals_a_call() const { return sampling::normals_a_call(chain_.real()); }

 private:
  Chain& chain_;
  std::array<Value, 2> seed_;
  Value number_;
};

// The same on the host, in double precision.
struct HostStream {
  uint64_t seed = 0;
  uint32_t chain = 0;
  bool wide = true;  // numbers of f64 runs; else of f32 runs
  std::array<uint32_t, 4> bits(Purpose purpose, uint32_t iteration, uint32_t place) const;
  double uniform(const std::array<uint32_t, 4>& bits, int which) const;
  double normal(Purpose purpose, uint32_t iteration, uint32_t trial, uint32_t i) const;
};

}  // namespace adit::sampling
