// Teams that wait for words of others. They take tickets, so that those that a team waits for have begun.
//
// Numbers are told in words of 64 bits, each of which holds what no number is until it is there: all ones. So
// no order between words is asked for.
#pragma once

#include <functional>
#include <vector>

#include <adit/kernel/builder.hpp>

#include "ops/factor_writer.hpp"

namespace adit::ops {

// Which of the launch's teams, in the order in which they began, this one is; the first of `words`, 0 to
// begin with, counts them. `ticket` is shared memory; one barrier.
inline kernel::Value take_ticket(kernel::Builder& k, const kernel::Array& words, const kernel::Array& ticket,
                                 kernel::Value lane) {
  const kernel::Value first = lane.like(0);
  k.if_(lane == 0, [&] { ticket[first] = words.atomic_add(first, lane.like(1)); });
  k.barrier();
  return ticket[first];
}

// Looks at `count` words until all are there.
inline std::vector<kernel::Value> wait_for_words(
    kernel::Builder& k, size_t count, const std::function<kernel::Value(size_t)>& look,
    const std::function<kernel::Value(kernel::Value)>& is_there) {
  std::vector<kernel::Variable> seen;
  for (size_t i = 0; i < count; ++i) seen.push_back(k.variable(look(i)));
  k.while_(
      [&] {
        kernel::Value waits = !is_there(seen[0].get());
        for (size_t i = 1; i < count; ++i) waits = waits || !is_there(seen[i].get());
        return waits;
      },
      [&] {
        for (size_t i = 0; i < count; ++i) seen[i] = look(i);
      });
  std::vector<kernel::Value> found;
  for (const kernel::Variable& word : seen) found.push_back(word.get());
  return found;
}

// --- words that are all ones until something is told ---

// A team a pair of words.
kernel::Program clear_words();

// The same as take_ticket; the word counts from all ones.
inline kernel::Value take_told_ticket(kernel::Builder& k, const kernel::Array& words, kernel::Value word,
                                      const kernel::Array& ticket, kernel::Value lane) {
  const kernel::Value first = lane.like(0);
  k.if_(lane == 0, [&] {
    const kernel::Value before = words.atomic_add(word, word.like(1));
    ticket[first] = convert((before + 1) & 0xffffffffU, kernel::Type::u32);
  });
  k.barrier();
  return ticket[first];
}

// A number's bits as they are told: the one NaN is another than all ones.
inline kernel::Value bits_to_tell(kernel::Value number) {
  const kernel::Type whole = number.type() == kernel::Type::f32 ? kernel::Type::u32 : kernel::Type::u64;
  return convert(bitcast(select(is_nan(number), nan_like(number), number), whole), kernel::Type::u64);
}

inline std::vector<kernel::Value> wait_for_told(kernel::Builder& k, const kernel::Array& words,
                                                const std::vector<kernel::Value>& places) {
  return wait_for_words(
      k, places.size(), [&](size_t i) { return words.atomic_or(places[i], places[i].like(0)); },
      [](kernel::Value word) { return word != ~uint64_t{0}; });
}

// Numbers that are told: number `at` has the words from words() * at on.
class ToldNumbers {
 public:
  ToldNumbers(kernel::Builder& k, kernel::Type type, bool complex, const kernel::Array& words)
      : k_(k), type_(type), complex_(complex), words_(words) {}
  static uint32_t words(kernel::Type type, bool complex) {
    return complex && type == kernel::Type::f64 ? 2 : 1;
  }

  void tell(kernel::Value at, Number x) const {
    const kernel::Value first = at * words(type_, complex_), re = bits_to_tell(x.re);
    if (!complex_) {
      words_.atomic_exchange(first, re);
    } else if (type_ == kernel::Type::f32) {
      words_.atomic_exchange(first, re | bits_to_tell(x.im) << 32);
    } else {
      words_.atomic_exchange(first, re);
      words_.atomic_exchange(first + 1, bits_to_tell(x.im));
    }
  }

  std::vector<Number> wait_for(const std::vector<kernel::Value>& places) const {
    const uint32_t each = words(type_, complex_);
    std::vector<kernel::Value> at;
    for (const kernel::Value& place : places)
      for (uint32_t w = 0; w < each; ++w) at.push_back(place * each + w);
    const std::vector<kernel::Value> seen = wait_for_told(k_, words_, at);
    std::vector<Number> found;
    for (size_t i = 0; i < seen.size(); i += each) {
      const kernel::Value re = number_of(seen[i], 0);
      found.push_back({re, !complex_ ? re : each == 2 ? number_of(seen[i + 1], 0) : number_of(seen[i], 32)});
    }
    return found;
  }

 private:
  kernel::Value number_of(kernel::Value word, uint32_t shift) const {
    using namespace kernel;
    if (type_ == Type::f64) return bitcast(word, type_);
    return bitcast(convert(word >> shift & 0xffffffffU, Type::u32), type_);
  }

  kernel::Builder& k_;
  kernel::Type type_;
  bool complex_;
  kernel::Array words_;
};

}  // namespace adit::ops
