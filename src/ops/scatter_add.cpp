// indexed_add with atomics on integers, whose sums do not depend on the order.
#include "ops/fixed_point.hpp"
#include "ops/scatter_places.hpp"

namespace adit::ops {

using namespace kernel;

namespace {

// Adds limbs to the accumulator whose first limb is `at`: each limb atomically, what it carries with the next
// one.
void add_limbs(const Array& sums, Value at, const std::vector<Value>& limbs) {
  Value carry = limbs[0].like(0);
  for (size_t j = 0; j < limbs.size(); ++j) {
    const Value term = limbs[j] + carry;
    const Value old = sums.atomic_add(at + j, term);
    const Value overflows = (carry != 0 && term == 0) || old + term < term;
    carry = select(overflows, carry.like(1), carry.like(0));
  }
}

// The same limbs, two to a word of 64 bits.
std::vector<Value> in_pairs(const std::vector<Value>& limbs) {
  std::vector<Value> result;
  for (size_t j = 0; j < limbs.size(); j += 2)
    result.push_back(convert(limbs[j], Type::u64) | (convert(limbs[j + 1], Type::u64) << 32));
  return result;
}

// Integers of 32 and 64 bits are added in place.
Scatter add_in_place(const Places& places, bool int64_atomics) {
  const bool pairs = size_of(places.type) == 8 && !int64_atomics;
  const Type word = pairs ? Type::u32 : places.type;
  Builder k("add_in_place", Team::one());
  const Array output = k.buffer("output", word, Access::read_write);
  const Array indices = k.buffer("indices", places.index_type, Access::read);
  const Array updates = k.buffer("updates", word, Access::read);
  const auto [update, element] = places.split(k.team(places.number_type()));
  const Value at = places.base_offset(places.base_of(indices, update)) + places.slice_offset(element);
  const Value from = places.row_offset(update, element);
  if (pairs)
    add_limbs(output, at * 2, {updates[from * 2], updates[from * 2 + 1]});
  else
    output.atomic_add(at, updates[from]);
  Scatter work;
  work.passes.push_back(
      {k.finish(), places.updates * places.slice_size, {output_buffer, indices_buffer, updates_buffer}});
  return work;
}

// Sums in scratch, then one pass that adds them to the output. A slot of scratch belongs to a base; where
// there are many more bases than updates, to the last update of the base instead, which the claims tell.
class ScratchAdd {
 public:
  ScratchAdd(const Places& places, bool int64_atomics)
      : places_(places),
        by_claim_(places.bases > 4 * places.updates),
        floats_(is_float(places.type)),
        pairs_(int64_atomics),
        fixed_(places.type == Type::f64 ? Type::f64 : Type::f32, places.updates) {}

  Scatter build() {
    const uint64_t slots = (by_claim_ ? places_.updates : places_.bases) * places_.slice_size;
    const auto add_scratch = [&](uint64_t words) {
      work_.scratch.push_back({words * 4});
      return scratch_buffer(static_cast<int>(work_.scratch.size()) - 1);
    };
    sums_ = add_scratch(slots * static_cast<uint64_t>(floats_ ? fixed_.limbs() : 1));
    if (floats_) exponents_ = add_scratch(slots);
    if (by_claim_) {
      claims_ = add_scratch(places_.bases);
      work_.passes.push_back(claim_pass(places_, claims_));
    }
    if (floats_) exponent_pass();
    sum_pass();
    fold_pass();
    return std::move(work_);
  }

 private:
  Array claims_in(Builder& k) { return by_claim_ ? k.buffer("claims", Type::u32, Access::read) : Array(); }
  Value slot_row(const Array& claims, Value base) const {
    return by_claim_ ? convert(claims[base], places_.number_type()) - 1 : base;
  }
  void finish(Builder& k, uint64_t teams, std::vector<uint8_t> arguments) {
    if (by_claim_) arguments.push_back(claims_);
    work_.passes.push_back({k.finish(), teams, std::move(arguments)});
  }

  // The update of this team and the slot it goes to. The pass's own buffers stand before these.
  std::pair<Value, Value> update_and_slot(Builder& k) {
    const Array indices = k.buffer("indices", places_.index_type, Access::read);
    const Array updates = k.buffer("updates", places_.memory_type, Access::read);
    const Array claims = claims_in(k);
    const auto [update, element] = places_.split(k.team(places_.number_type()));
    const Value row = slot_row(claims, places_.base_of(indices, update));
    return {places_.as_term(updates[places_.row_offset(update, element)]), places_.row_offset(row, element)};
  }

  void exponent_pass() {
    Builder k("add_exponents", Team::one());
    const Array exponents = k.buffer("exponents", Type::u32, Access::read_write);
    const auto [term, slot] = update_and_slot(k);
    exponents.atomic_max(slot, fixed_.exponent(term));
    finish(k, places_.updates * places_.slice_size, {exponents_, indices_buffer, updates_buffer});
  }

  void sum_pass() {
    Builder k("add_sums", Team::one());
    const bool pairs = floats_ && pairs_;
    const Array sums = k.buffer("sums", pairs ? Type::u64 : Type::u32, Access::read_write);
    const Array exponents = floats_ ? k.buffer("exponents", Type::u32, Access::read) : Array();
    const auto [term, slot] = update_and_slot(k);
    if (!floats_) {
      const Type wide = is_signed_integer(places_.type) ? Type::i32 : Type::u32;
      sums.atomic_add(slot, bitcast(convert(term, wide), Type::u32));
    } else {
      const Value largest = exponents[slot];
      const auto limbs = fixed_.encode(term, largest);
      const Value at = slot * (pairs ? fixed_.limbs() / 2 : fixed_.limbs());
      k.if_(
          largest == fixed_.special_exponent(),
          [&, term_ = term] {
            k.if_(fixed_.exponent(term_) == fixed_.special_exponent(),
                  [&] { sums.atomic_or(at, convert(fixed_.flag(term_), sums.type())); });
          },
          [&] { add_limbs(sums, at, pairs ? in_pairs(limbs) : limbs); });
    }
    std::vector<uint8_t> arguments{sums_};
    if (floats_) arguments.push_back(exponents_);
    arguments.insert(arguments.end(), {indices_buffer, updates_buffer});
    finish(k, places_.updates * places_.slice_size, std::move(arguments));
  }

  // One team for each element of each slot. Slots of a claim are numbered by updates, of which only the last
  // one to its base holds a sum.
  void fold_pass() {
    Builder k("add_fold", Team::one());
    const Array output = k.buffer("output", places_.memory_type, Access::read_write);
    const Array sums = k.buffer("sums", Type::u32, Access::read);
    const Array exponents = floats_ ? k.buffer("exponents", Type::u32, Access::read) : Array();
    const Array indices = by_claim_ ? k.buffer("indices", places_.index_type, Access::read) : Array();
    const Array claims = claims_in(k);
    const auto [row, element] = places_.split(k.team(places_.number_type()));
    const Value base = by_claim_ ? places_.base_of(indices, row) : row;
    const Value slot = places_.row_offset(row, element);
    Value is_filled = floats_ ? exponents[slot] != 0u : sums[slot] != 0u;
    if (by_claim_) is_filled = is_filled && claims[base] == convert(row, Type::u32) + 1;
    k.if_(is_filled, [&, element_ = element] {
      const Value at = places_.base_offset(base) + places_.slice_offset(element_);
      output[at] = add_sum(output[at], sums, exponents, slot);
    });
    std::vector<uint8_t> arguments{output_buffer, sums_};
    if (floats_) arguments.push_back(exponents_);
    if (by_claim_) arguments.push_back(indices_buffer);
    finish(k, (by_claim_ ? places_.updates : places_.bases) * places_.slice_size, std::move(arguments));
  }

  Value add_sum(Value element, const Array& sums, const Array& exponents, Value slot) const {
    if (!floats_) return element + convert(Value(sums[slot]), places_.type);
    std::vector<Value> limbs;
    for (int j = 0; j < fixed_.limbs(); ++j) limbs.push_back(sums[slot * fixed_.limbs() + j]);
    const Value sum = fixed_.decode(limbs, exponents[slot]);
    return places_.as_element(places_.as_term(element) + sum);
  }

  const Places& places_;
  const bool by_claim_, floats_, pairs_;
  const FixedPoint fixed_;
  Scatter work_;
  uint8_t sums_ = 0, exponents_ = 0, claims_ = 0;
};

}  // namespace

Scatter add_by_atomics(const Places& places, bool int64_atomics) {
  if (is_integer(places.type) && size_of(places.type) >= 4) return add_in_place(places, int64_atomics);
  return ScratchAdd(places, int64_atomics).build();
}

}  // namespace adit::ops
