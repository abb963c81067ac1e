#include "ops/attention.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <limits>

#include <adit/kernel/builder.hpp>
#include <adit/kernel/math.hpp>

namespace adit::ops {

using namespace kernel;

namespace fused_attention {

constexpr uint32_t vector = 4;  // scalars of an access to shared memory
constexpr uint32_t steps = 8;   // of a loop over products, written out

uint32_t rounded_up(uint32_t number, uint32_t step) { return (number + step - 1) / step * step; }

uint32_t padded_width(const AttentionShape& shape, const AttentionTiling& t) {
  return rounded_up(shape.width, t.across);
}

// Of queries and keys, and of the weights, which take their place.
uint32_t exchanged_length(const AttentionTiling& t) {
  return std::max(t.chunk * (t.tile + t.block), t.tile * t.block);
}

uint64_t shared_bytes(const AttentionShape& shape, const AttentionTiling& t) {
  const uint32_t scratch = t.shuffles ? 0 : t.block * t.across;
  return 4 * (uint64_t{exchanged_length(t)} + scratch + t.portion * padded_width(shape, t));
}

// Lines of a tile in shared memory, step by step: what belongs to a step lies side by side, in vectors whose
// places are turned (exclusive or) from every fourth step to the next. So lanes that have the same line at
// different steps write to different banks, as do those that have different steps of the same lines.
struct Turned {
  Array memory;
  uint32_t first = 0, count = 0;  // elements before it, lines

  Value turn(Value step) const {
    const uint32_t rounds = std::min(8u, std::bit_floor(count / vector));
    return step / vector & (rounds - 1);
  }
  // Of a vector of lines, in vectors.
  Value place(Value step, Value which) const {
    return step * (count / vector) + (which ^ turn(step)) + first / vector;
  }
  Value element(Value step, Value line) const {
    return step * count + ((line / vector ^ turn(step)) * vector + line % vector) + first;
  }
};

class Writer {
 public:
  Writer(const AttentionShape& shape, const AttentionTiling& tiling)
      : s_(shape),
        t_(tiling),
        rows_(tiling.rows),
        down_(tiling.block / tiling.rows),
        lanes_(down_ * tiling.across),
        part_(tiling.tile / tiling.across),
        width_(padded_width(shape, tiling)),
        columns_(width_ / tiling.across),
        vectors_(columns_ / vector),
        index_(wide() ? Type::u64 : Type::u32),
        k_(fmt::format("attention_{}_{}x{}:{}x{}:{}x{}:{}:{}{}", name_of(shape.type), shape.depth,
                       shape.width, tiling.block, tiling.tile, tiling.rows, tiling.across, tiling.chunk,
                       tiling.portion, shape.causal ? "_causal" : ""),
           Team::many(lanes_)) {}

  Program run() {
    queries_ = k_.buffer("queries", s_.type, Access::read);
    keys_ = k_.buffer("keys", s_.type, Access::read);
    values_ = k_.buffer("values", s_.type, Access::read);
    result_ = k_.buffer("result", s_.type, Access::write);
    share_memory();
    find_place();
    for (uint32_t i = 0; i < rows_; ++i) {
      largest_.push_back(k_.variable(Type::f32, -std::numeric_limits<float>::infinity()));
      total_.push_back(k_.variable(Type::f32, 0));
    }
    for (uint32_t i = 0; i < rows_ * columns_; ++i) sums_.push_back(k_.variable(Type::f32, 0));
    k_.for_(tile_count(), [&](Value number) {
      const Value first = number * t_.tile;
      fetch_values(first);
      const std::vector<Variable> all = scores(first);
      weigh(all, first);
      k_.barrier();
      add_values(first);
      k_.barrier();
    });
    store();
    return k_.finish();
  }

 private:
  bool wide() const {
    const uint64_t most = std::max(s_.batch * s_.groups * s_.queries * std::max<uint64_t>(s_.depth, s_.width),
                                   s_.batch * s_.keys * std::max<uint64_t>(s_.depth, s_.width));
    return most >= uint64_t{1} << 31;
  }

  void share_memory() {
    const Array exchanged = k_.shared(Type::f32, exchanged_length(t_));
    shared_queries_ = {exchanged, 0, t_.block};
    shared_keys_ = {exchanged, t_.chunk * t_.block, t_.tile};
    shared_weights_ = {exchanged, 0, t_.block};
    shared_values_ = k_.shared(Type::f32, t_.portion * width_);
    if (!t_.shuffles) scratch_ = k_.shared(Type::f32, t_.block * t_.across);
  }

  // The last queries first: where it is causal they take longest.
  void find_place() {
    const auto blocks = static_cast<int64_t>((s_.queries + t_.block - 1) / t_.block);
    const Value team = k_.team(index_);
    const Value head = team / blocks;
    first_query_ = convert(team.like(blocks - 1) - team % blocks, Type::u32) * t_.block;
    query_rows_ = head * static_cast<int64_t>(s_.queries);
    key_rows_ = head / static_cast<int64_t>(s_.groups) * static_cast<int64_t>(s_.keys);
    // Shuffles go by the lanes of a subgroup, so these count in its order.
    lane_ = t_.shuffles ? k_.subgroup_number() * k_.subgroup_size() + k_.subgroup_lane() : k_.lane();
    row_ = lane_ / t_.across;
    column_ = lane_ % t_.across;
    if (!t_.interleaved) return;
    // Bit by bit: column, row, the rest of the column, the rest of the row.
    row_ = (lane_ >> 1 & 1) | lane_ / (2 * t_.across) << 1;
    column_ = (lane_ & 1) | (lane_ >> 2 & (t_.across / 2 - 1)) << 1;
  }

  Value tile_count() {
    const auto keys = static_cast<int64_t>(s_.keys);
    Value end = first_query_.like(keys);
    if (s_.causal) end = min(end, first_query_ + t_.block);
    return (end + (t_.tile - 1)) / t_.tile;
  }

  uint32_t access_width(uint32_t extent) const {
    const uint32_t most = 16 / size_of(s_.type);
    for (const uint32_t width : {4u, 2u})
      if (width <= most && extent % width == 0) return width;
    return 1;
  }

  // Scalars from a place of a buffer on.
  std::vector<Value> loaded(const Array& from, Value first, uint32_t width) {
    const Value at = width == 1 ? first : first / width;
    const Value all = width == 1 ? from.load(at) : from.load_vector(at, static_cast<int>(width));
    std::vector<Value> scalars;
    for (uint32_t j = 0; j < width; ++j)
      scalars.push_back(convert(width == 1 ? all : all[static_cast<int>(j)], Type::f32));
    return scalars;
  }

  // The team's lanes share `count` slots.
  void for_each_slot(uint32_t count, const std::function<void(Value)>& body) {
    for (uint32_t done = 0; done < count; done += lanes_) {
      const Value slot = lane_ + done;
      if (done + lanes_ <= count)
        body(slot);
      else
        k_.if_(slot < count, [&] { body(slot); });
    }
  }

  Value row_within(Value row, uint64_t extent, uint32_t block) {
    if (extent % block == 0) return row;
    return min(row, row.like(static_cast<int64_t>(extent) - 1));
  }

  // A chunk of the depth from step `along` on; steps behind its end are zeros. Lines behind the last are
  // that one again: nobody looks at what comes of them.
  void fetch_turned(const Array& from, const Turned& to, Value first_row, Value first, uint64_t extent,
                    Value along) {
    const uint32_t width = access_width(s_.depth), pieces = t_.chunk / width;
    for_each_slot(to.count * pieces, [&](Value slot) {
      const Value line = slot / pieces, within = slot % pieces * width;
      Value step = along + within;
      const bool ragged = s_.depth % t_.chunk != 0;
      const Value inside = step < s_.depth;
      if (ragged) step = min(step, s_.depth - width);
      const Value row = row_within(first + line, extent, to.count);
      const Value place = (first_row + convert(row, index_)) * s_.depth + convert(step, index_);
      const std::vector<Value> scalars = loaded(from, place, width);
      for (uint32_t j = 0; j < width; ++j)
        to.memory[to.element(within + j, line)] = ragged ? select(inside, scalars[j], 0) : scalars[j];
    });
  }

  void fetch_queries(Value along) {
    fetch_turned(queries_, shared_queries_, query_rows_, first_query_, s_.queries, along);
  }
  void fetch_keys(Value first, Value along) {
    fetch_turned(keys_, shared_keys_, key_rows_, first, s_.keys, along);
  }

  // A portion of the values; those behind the last key are zeros.
  void fetch_values(Value first) {
    const uint32_t width = access_width(s_.width), pieces = s_.width / width;
    for_each_slot(t_.portion * pieces, [&](Value slot) {
      const Value line = slot / pieces, along = slot % pieces * width;
      const Value row = row_within(first + line, s_.keys, t_.tile);
      const Value place = (key_rows_ + convert(row, index_)) * s_.width + convert(along, index_);
      std::vector<Value> scalars = loaded(values_, place, width);
      if (s_.keys % t_.tile != 0)
        for (Value& x : scalars) x = select(first + line < static_cast<int64_t>(s_.keys), x, 0);
      const Value at = line * width_ + along;
      if (width == vector)
        shared_values_.store(at / vector, k_.pack({scalars[0], scalars[1], scalars[2], scalars[3]}));
      else
        for (uint32_t j = 0; j < width; ++j) shared_values_[at + j] = scalars[j];
    });
  }

  Value product_sum(Value x, Value y, Value sum) const { return t_.fused ? fma(x, y, sum) : x * y + sum; }

  // A lane has every down_-th vector of queries, and every across-th of keys.
  Value row_of(uint32_t i) { return (row_ + i / vector * down_) * vector + i % vector; }
  Value key_of(uint32_t j) { return (column_ + j / vector * t_.across) * vector + j % vector; }
  std::vector<Value> own(const Turned& from, Value step, Value lane, uint32_t lanes, uint32_t count) {
    std::vector<Value> scalars;
    for (uint32_t i = 0; i < count; i += vector) {
      const Value all = from.memory.load_vector(from.place(step, lane + i / vector * lanes), vector);
      for (uint32_t j = 0; j < vector; ++j) scalars.push_back(all[static_cast<int>(j)]);
    }
    return scalars;
  }
  std::vector<Value> own_rows(const Turned& from, Value step) { return own(from, step, row_, down_, rows_); }

  // A lane's rows with its keys: rows_ * part_ scores.
  std::vector<Variable> scores(Value first) {
    std::vector<Variable> scores;
    for (uint32_t i = 0; i < rows_ * part_; ++i) scores.push_back(k_.variable(Type::f32, 0));
    k_.for_(k_.constant(Type::u32, (s_.depth + t_.chunk - 1) / t_.chunk), [&](Value number) {
      fetch_queries(number * t_.chunk);
      fetch_keys(first, number * t_.chunk);
      k_.barrier();
      add_scores(scores);
      k_.barrier();
    });
    return scores;
  }

  void add_scores(const std::vector<Variable>& scores) {
    k_.for_(k_.constant(Type::u32, t_.chunk / steps), [&](Value number) {
      std::vector<Value> sums;
      for (const Variable& score : scores) sums.push_back(score.get());
      for (uint32_t step = 0; step < steps; ++step) {
        const Value at = number * steps + step;
        const std::vector<Value> q = own_rows(shared_queries_, at),
                                 k = own(shared_keys_, at, column_, t_.across, part_);
        for (uint32_t i = 0; i < rows_; ++i)
          for (uint32_t j = 0; j < part_; ++j)
            sums[i * part_ + j] = product_sum(q[i], k[j], sums[i * part_ + j]);
      }
      for (size_t i = 0; i < sums.size(); ++i) scores[i] = sums[i];
    });
  }

  // What the lanes of each row have, together.
  std::vector<Value> joined(std::vector<Value> own, Value (*join)(Value, Value)) {
    if (t_.shuffles) {
      for (Value& x : own)
        for (uint32_t bit = 1; bit < t_.across; bit *= 2) {
          const uint32_t mask = t_.interleaved && bit > 1 ? 2 * bit : bit;
          x = join(x, k_.subgroup_shuffle_xor(x, k_.constant(Type::u32, mask)));
        }
      return own;
    }
    for (uint32_t i = 0; i < rows_; ++i) scratch_[row_of(i) * t_.across + column_] = own[i];
    k_.barrier();
    for (uint32_t i = 0; i < rows_; ++i) {
      const Value first = row_of(i) * t_.across;
      own[i] = scratch_[first].get();
      for (uint32_t j = 1; j < t_.across; ++j) own[i] = join(own[i], scratch_[first + j].get());
    }
    return own;
  }

  Value seen(Value score, uint32_t i, uint32_t j, Value first) {
    const bool ends = s_.keys % t_.tile != 0;
    if (!ends && !s_.causal) return score;
    const Value key = first + key_of(j);
    Value visible = ends ? key < static_cast<int64_t>(s_.keys) : key <= first_query_ + row_of(i);
    if (ends && s_.causal) visible = visible && key <= first_query_ + row_of(i);
    return select(visible, score, -std::numeric_limits<float>::infinity());
  }

  // 2^x for x not above 0, within 2^-23; what is below 2^-127 becomes 0.
  Value power_of_two(Value x) {
    constexpr double magic = 0x1.8p23 + 127;  // adding it rounds, and leaves the exponent's bits
    const Value least = max(x, -127.0), shifted = least + magic;
    const Value r = least - (shifted - magic);
    Value power = fma(r, 0x1.5bb92ap-10f, 0x1.3ceb6cp-7f);
    for (const float factor : {0x1.c6b75ap-5f, 0x1.ebf9bap-3f, 0x1.62e42ap-1f, 1.0f})
      power = fma(power, r, factor);
    return power * bitcast(bitcast(shifted, Type::u32) << 23, Type::f32);
  }

  // Powers of the scores below the largest so far, put where all lanes read them as weights. The largest one
  // is kept times log2(e), rounded once: an error that all of a row's weights share.
  void weigh(const std::vector<Variable>& scores, Value first) {
    constexpr double log2_e = 1.4426950408889634;
    std::vector<Value> s, tops;
    for (uint32_t i = 0; i < rows_; ++i) {
      for (uint32_t j = 0; j < part_; ++j) s.push_back(seen(scores[i * part_ + j].get(), i, j, first));
      Value top = s[i * part_];
      for (uint32_t j = 1; j < part_; ++j) top = max(top, s[i * part_ + j]);
      tops.push_back(top);
    }
    tops = joined(tops, max);
    const Value lowest = k_.constant(Type::f32, -std::numeric_limits<float>::infinity());
    std::vector<std::vector<Value>> powers(part_);
    for (uint32_t i = 0; i < rows_; ++i) {
      const Value before = largest_[i].get(), now = max(before, tops[i] * log2_e);
      const Value shift = select(now == lowest, 0, now);  // a query that has seen nothing yet
      const Value scale = power_of_two(before - shift);
      Value total = total_[i].get() * scale;
      for (uint32_t j = 0; j < part_; ++j) {
        powers[j].push_back(power_of_two(fma(s[i * part_ + j], s[0].like(log2_e), -shift)));
        total = total + powers[j].back();
      }
      largest_[i] = now;
      total_[i] = total;
      for (uint32_t c = 0; c < columns_; ++c) sums_[i * columns_ + c] = sums_[i * columns_ + c].get() * scale;
    }
    for (uint32_t j = 0; j < part_; ++j)
      for (uint32_t i = 0; i < rows_; i += vector) {
        const std::vector<Value>& p = powers[j];
        shared_weights_.memory.store(shared_weights_.place(key_of(j), row_ + i / vector * down_),
                                     k_.pack({p[i], p[i + 1], p[i + 2], p[i + 3]}));
      }
  }

  void add_values(Value first) {
    add_portion(first.like(0));
    if (t_.portion == t_.tile) return;
    k_.for_(first.like(1), first.like(t_.tile / t_.portion), first.like(1), [&](Value number) {
      k_.barrier();
      fetch_values(first + number * t_.portion);
      k_.barrier();
      add_portion(number * t_.portion);
    });
  }

  // A lane's columns: vectors of every across-th, and single ones for the rest.
  std::vector<Value> own_values(Value line) {
    std::vector<Value> scalars;
    for (uint32_t c = 0; c < vectors_; ++c) {
      const Value all =
          shared_values_.load_vector(line * (width_ / vector) + column_ + c * t_.across, vector);
      for (uint32_t j = 0; j < vector; ++j) scalars.push_back(all[static_cast<int>(j)]);
    }
    for (uint32_t c = vectors_ * vector; c < columns_; ++c)
      scalars.push_back(shared_values_[line * width_ + column_of(c)].get());
    return scalars;
  }
  Value column_of(uint32_t c) {
    const uint32_t in_vectors = vectors_ * vector;
    if (c < in_vectors) return (column_ + c / vector * t_.across) * vector + c % vector;
    return column_ + c * t_.across;
  }

  void add_portion(Value first) {
    k_.for_(k_.constant(Type::u32, t_.portion / steps), [&](Value number) {
      std::vector<Value> sums;
      for (const Variable& sum : sums_) sums.push_back(sum.get());
      for (uint32_t step = 0; step < steps; ++step) {
        const Value at = number * steps + step;
        const std::vector<Value> weights = own_rows(shared_weights_, first + at), v = own_values(at);
        for (uint32_t i = 0; i < rows_; ++i)
          for (uint32_t c = 0; c < columns_; ++c)
            sums[i * columns_ + c] = product_sum(weights[i], v[c], sums[i * columns_ + c]);
      }
      for (size_t i = 0; i < sums.size(); ++i) sums_[i] = sums[i];
    });
  }

  void store() {
    std::vector<Value> own;
    for (const Variable& total : total_) own.push_back(total.get());
    const std::vector<Value> totals = joined(own, [](Value a, Value b) { return a + b; });
    const bool whole = s_.width % vector == 0 && size_of(s_.type) == 4;
    for (uint32_t i = 0; i < rows_; ++i) {
      const Value row = first_query_ + row_of(i);
      const Value scale = 1 / select(totals[i] == 0, 1, totals[i]);
      k_.if_(row < static_cast<int64_t>(s_.queries), [&] {
        const Value start = (query_rows_ + convert(row, index_)) * s_.width;
        const auto sum = [&](uint32_t c) { return sums_[i * columns_ + c].get() * scale; };
        for (uint32_t c = 0; c < columns_;) {
          const Value column = column_of(c);
          if (whole && c < vectors_ * vector) {
            k_.if_(column < s_.width, [&] {
              result_.store((start + convert(column, index_)) / vector,
                            k_.pack({sum(c), sum(c + 1), sum(c + 2), sum(c + 3)}));
            });
            c += vector;
            continue;
          }
          k_.if_(column < s_.width,
                 [&] { result_[start + convert(column, index_)] = convert(sum(c), s_.type); });
          ++c;
        }
      });
    }
  }

  const AttentionShape& s_;
  const AttentionTiling& t_;
  const uint32_t rows_, down_, lanes_;     // queries of a lane; lanes down the queries; all lanes
  const uint32_t part_, width_, columns_;  // keys of a lane; columns of the values, and those of a lane
  const uint32_t vectors_;                 // of its columns
  const Type index_;
  Builder k_;
  Array queries_, keys_, values_, result_;
  Turned shared_queries_, shared_keys_, shared_weights_;
  Array shared_values_, scratch_;
  Value first_query_, query_rows_, key_rows_, lane_, row_, column_;
  std::vector<Variable> largest_, total_, sums_;
};

// How lanes of a row meet.
void choose_lanes(AttentionTiling& t, const Limits& limits) {
  const uint32_t lanes = t.block / t.rows * t.across, together = limits.subgroup_size;
  t.shuffles =
      limits.subgroup_shuffle && limits.fixed_subgroups && together >= t.across && lanes % together == 0;
  t.interleaved = t.shuffles && together % (2 * t.across) == 0;
}

bool fits(const AttentionShape& shape, const AttentionTiling& t, const Limits& limits) {
  if (t.block / t.rows * t.across > limits.max_lanes || shared_bytes(shape, t) > limits.shared_bytes)
    return false;
  const uint64_t tiles = (shape.keys + t.tile - 1) / t.tile, chunks = (shape.depth + t.chunk - 1) / t.chunk,
                 portions = t.tile / t.portion;
  const uint64_t trips = tiles * (1 + chunks * (1 + t.chunk / steps) + portions * (1 + t.portion / steps));
  return limits.max_loop_trips == 0 || trips < limits.max_loop_trips;
}

// The best of those that were timed on an H200 with 2048 queries and keys of 64, and with 1024 of 80, 96 and
// 128; chunks and portions that leave room for several teams on a multiprocessor.
AttentionTiling usual_tiling(const AttentionShape& shape, uint32_t block) {
  AttentionTiling t;
  t.block = block;
  const bool few_rows = shape.width > 80 && shape.width <= 96;
  t.rows = few_rows ? 4 : 8;
  t.across = shape.width > 64 && !few_rows ? 16 : 8;
  const uint32_t most = shape.width > 64 ? 64 : block == 128 ? 40 : 16;
  const uint32_t chunks = (shape.depth + most - 1) / most;
  t.chunk = rounded_up((shape.depth + chunks - 1) / chunks, steps);
  t.portion = block == 128 || (shape.width > 64 && shape.width <= 96) ? t.tile : t.tile / 2;
  return t;
}

// Large blocks where they do not leave a device idle, nor are half empty; lanes have registers for as many
// sums.
bool suits(const AttentionShape& shape, const AttentionTiling& t, const Limits& limits) {
  if (t.block == 32) return true;
  if (shape.queries <= t.block / 2) return false;
  if (t.block == 64) return true;
  return shape.width <= 64 && attention_teams(shape, t) >= 2 * uint64_t{limits.multiprocessors};
}

bool make_smaller(AttentionTiling& t) {
  if (t.portion > 16)
    t.portion /= 2;
  else if (t.chunk > steps)
    t.chunk = rounded_up(t.chunk / 2, steps);
  else
    return false;
  return true;
}

}  // namespace fused_attention

std::optional<AttentionTiling> attention_tiling(const AttentionShape& shape, const Limits& limits) {
  using namespace fused_attention;
  const bool is_half = shape.type == Type::f16 || shape.type == Type::bf16;
  if (shape.type != Type::f32 && !is_half) return std::nullopt;
  if (!limits.lanes_by_hand || shape.depth == 0 || shape.depth > 128 || shape.width == 0 || shape.width > 128)
    return std::nullopt;
  if (is_half && (!limits.storage16 || !limits.float16)) return std::nullopt;
  if (shape.keys >= uint64_t{1} << 30 || shape.queries >= uint64_t{1} << 30) return std::nullopt;
  for (const uint32_t block : {128u, 64u, 32u}) {
    AttentionTiling t = usual_tiling(shape, block);
    if (!suits(shape, t, limits)) continue;
    t.fused = limits.fused_fma;
    choose_lanes(t, limits);
    while (!fits(shape, t, limits) && make_smaller(t)) continue;
    if (fits(shape, t, limits)) return t;
  }
  return std::nullopt;
}

uint64_t attention_teams(const AttentionShape& shape, const AttentionTiling& tiling) {
  return shape.batch * shape.groups * ((shape.queries + tiling.block - 1) / tiling.block);
}

Program attention_program(const AttentionShape& shape, const AttentionTiling& tiling) {
  return fused_attention::Writer(shape, tiling).run();
}

}  // namespace adit::ops
