#include "ops/attention.hpp"

#include <array>
#include <fmt/format.h>
#include <limits>

#include <adit/kernel/builder.hpp>
#include <adit/kernel/math.hpp>

namespace adit::ops {

using namespace kernel;

namespace fused_attention {

constexpr uint32_t across = 8;  // lanes that share a row
constexpr uint32_t vector = 4;  // scalars of an access to shared memory

uint32_t padded_width(const AttentionShape& shape) {
  constexpr uint32_t step = across * vector;
  return (shape.width + step - 1) / step * step;
}

uint64_t shared_bytes(const AttentionShape& shape, const AttentionTiling& t) {
  const uint64_t scratch = t.shuffles ? 0 : t.block * across;
  return 4 * (uint64_t{shape.depth} * (t.block + t.tile) +
              uint64_t{t.tile} * (padded_width(shape) + t.block) + scratch);
}

// A divisor of a loop's length that is written out.
uint32_t unrolled(uint32_t length) {
  for (const uint32_t count : {8u, 4u, 2u})
    if (length % count == 0) return count;
  return 1;
}

class Writer {
 public:
  Writer(const AttentionShape& shape, const AttentionTiling& tiling)
      : s_(shape),
        t_(tiling),
        rows_(tiling.rows),
        down_(tiling.block / tiling.rows),
        lanes_(down_ * across),
        part_(tiling.tile / across),
        width_(padded_width(shape)),
        columns_(width_ / across),
        index_(wide() ? Type::u64 : Type::u32),
        k_(fmt::format("attention_{}_{}x{}:{}x{}:{}{}", name_of(shape.type), shape.depth, shape.width,
                       tiling.block, tiling.tile, tiling.rows, shape.causal ? "_causal" : ""),
           Team::many(lanes_)) {}

  Program run() {
    queries_ = k_.buffer("queries", s_.type, Access::read);
    keys_ = k_.buffer("keys", s_.type, Access::read);
    values_ = k_.buffer("values", s_.type, Access::read);
    result_ = k_.buffer("result", s_.type, Access::write);
    shared_queries_ = k_.shared(Type::f32, s_.depth * t_.block);
    shared_keys_ = k_.shared(Type::f32, s_.depth * t_.tile);
    shared_values_ = k_.shared(Type::f32, t_.tile * width_);
    shared_weights_ = k_.shared(Type::f32, t_.tile * t_.block);
    if (!t_.shuffles) scratch_ = k_.shared(Type::f32, t_.block * across);
    find_place();
    fetch_queries();
    for (uint32_t i = 0; i < rows_; ++i) {
      largest_.push_back(k_.variable(Type::f32, -std::numeric_limits<float>::infinity()));
      total_.push_back(k_.variable(Type::f32, 0));
    }
    for (uint32_t i = 0; i < rows_ * columns_; ++i) sums_.push_back(k_.variable(Type::f32, 0));
    k_.for_(tile_count(), [&](Value number) {
      const Value first = number * t_.tile;
      fetch_keys(first);
      fetch_values(first);
      k_.barrier();
      weigh(scores(), first);
      k_.barrier();
      add_values();
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
    row_ = lane_ / across;
    column_ = lane_ % across;
    if (!t_.interleaved) return;
    // Bit by bit: column, row, two of the column, the rest of the row.
    row_ = (lane_ >> 1 & 1) | lane_ >> 4 << 1;
    column_ = (lane_ & 1) | (lane_ >> 2 & 3) << 1;
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

  // Scalars from a place of a buffer on, zero where `inside` is not true.
  std::vector<Value> loaded(const Array& from, Value first, uint32_t width, Value inside) {
    const Value at = width == 1 ? first : first / width;
    const Value all = width == 1 ? from.load(at) : from.load_vector(at, static_cast<int>(width));
    std::vector<Value> scalars;
    for (uint32_t j = 0; j < width; ++j)
      scalars.push_back(select(inside, convert(width == 1 ? all : all[static_cast<int>(j)], Type::f32), 0));
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

  // Rows of `depth` turned: neighbours in shared memory are neighbours among the rows. So are the lanes,
  // which then write without meeting each other; the rows are short enough to come from a cache.
  void fetch_turned(const Array& from, const Array& to, Value first_row, Value first, uint32_t count,
                    uint64_t extent) {
    const uint32_t width = access_width(s_.depth);
    for_each_slot(count * (s_.depth / width), [&](Value slot) {
      const Value line = slot % count, along = slot / count * width;
      const Value row = first + line, last = row.like(static_cast<int64_t>(extent) - 1);
      const Value place = (first_row + convert(min(row, last), index_)) * s_.depth + convert(along, index_);
      const std::vector<Value> scalars = loaded(from, place, width, row <= last);
      for (uint32_t j = 0; j < width; ++j) to[(along + j) * count + line] = scalars[j];
    });
  }

  void fetch_queries() {
    fetch_turned(queries_, shared_queries_, query_rows_, first_query_, t_.block, s_.queries);
  }
  void fetch_keys(Value first) { fetch_turned(keys_, shared_keys_, key_rows_, first, t_.tile, s_.keys); }

  void fetch_values(Value first) {
    const uint32_t width = access_width(s_.width), pieces = s_.width / width;
    for_each_slot(t_.tile * pieces, [&](Value slot) {
      const Value line = slot / pieces, along = slot % pieces * width;
      const Value row = first + line, last = row.like(static_cast<int64_t>(s_.keys) - 1);
      const Value place = (key_rows_ + convert(min(row, last), index_)) * s_.width + convert(along, index_);
      const std::vector<Value> scalars = loaded(values_, place, width, row <= last);
      const Value at = line * width_ + along;
      if (width == vector)
        shared_values_.store(at / vector, k_.pack({scalars[0], scalars[1], scalars[2], scalars[3]}));
      else
        for (uint32_t j = 0; j < width; ++j) shared_values_[at + j] = scalars[j];
    });
  }

  Value product_sum(Value x, Value y, Value sum) const { return t_.fused ? fma(x, y, sum) : x * y + sum; }

  std::vector<Value> strip(const Array& from, Value at, uint32_t width) {
    const Value all = from.load_vector(at, static_cast<int>(width));
    std::vector<Value> scalars;
    for (uint32_t j = 0; j < width; ++j) scalars.push_back(all[static_cast<int>(j)]);
    return scalars;
  }

  // A lane has every down_-th vector of rows.
  Value row_of(uint32_t i) { return (row_ + i / vector * down_) * vector + i % vector; }
  std::vector<Value> own_rows(const Array& from, Value line) {
    std::vector<Value> scalars;
    for (uint32_t i = 0; i < rows_; i += vector)
      for (const Value& x : strip(from, line * (t_.block / vector) + i / vector * down_ + row_, vector))
        scalars.push_back(x);
    return scalars;
  }

  // A lane's rows with its keys: rows_ * part_ scores.
  std::vector<Variable> scores() {
    std::vector<Variable> scores;
    for (uint32_t i = 0; i < rows_ * part_; ++i) scores.push_back(k_.variable(Type::f32, 0));
    const uint32_t steps = unrolled(s_.depth);
    k_.for_(k_.constant(Type::u32, s_.depth / steps), [&](Value number) {
      std::vector<Value> sums;
      for (const Variable& score : scores) sums.push_back(score.get());
      for (uint32_t step = 0; step < steps; ++step) {
        const Value at = number * steps + step;
        const std::vector<Value> q = own_rows(shared_queries_, at),
                                 k = strip(shared_keys_, at * across + column_, part_);
        for (uint32_t i = 0; i < rows_; ++i)
          for (uint32_t j = 0; j < part_; ++j)
            sums[i * part_ + j] = product_sum(q[i], k[j], sums[i * part_ + j]);
      }
      for (size_t i = 0; i < sums.size(); ++i) scores[i] = sums[i];
    });
    return scores;
  }

  // What the lanes of each row have, together.
  std::vector<Value> joined(std::vector<Value> own, Value (*join)(Value, Value)) {
    if (t_.shuffles) {
      for (Value& x : own)
        for (const uint32_t mask : t_.interleaved ? std::array{1u, 4u, 8u} : std::array{1u, 2u, 4u})
          x = join(x, k_.subgroup_shuffle_xor(x, k_.constant(Type::u32, mask)));
      return own;
    }
    for (uint32_t i = 0; i < rows_; ++i) scratch_[row_of(i) * across + column_] = own[i];
    k_.barrier();
    for (uint32_t i = 0; i < rows_; ++i) {
      const Value first = row_of(i) * across;
      own[i] = scratch_[first].get();
      for (uint32_t j = 1; j < across; ++j) own[i] = join(own[i], scratch_[first + j].get());
    }
    return own;
  }

  Value seen(Value score, uint32_t i, uint32_t j, Value first) {
    const Value key = first + column_ * part_ + j;
    Value visible = key < static_cast<int64_t>(s_.keys);
    if (s_.causal) visible = visible && key <= first_query_ + row_of(i);
    return select(visible, score, -std::numeric_limits<float>::infinity());
  }

  // Powers of the scores below the largest so far, put where all lanes read them as weights.
  void weigh(const std::vector<Variable>& scores, Value first) {
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
      const Value before = largest_[i].get(), now = max(before, tops[i]);
      const Value shift = select(now == lowest, 0, now);  // a query that has seen nothing yet
      const Value scale = exp(before - shift);
      Value total = total_[i].get() * scale;
      for (uint32_t j = 0; j < part_; ++j) {
        powers[j].push_back(exp(s[i * part_ + j] - shift));
        total = total + powers[j].back();
      }
      largest_[i] = now;
      total_[i] = total;
      for (uint32_t c = 0; c < columns_; ++c) sums_[i * columns_ + c] = sums_[i * columns_ + c].get() * scale;
    }
    for (uint32_t j = 0; j < part_; ++j)
      for (uint32_t i = 0; i < rows_; i += vector) {
        const Value at = (column_ * part_ + j) * (t_.block / vector) + i / vector * down_ + row_;
        const std::vector<Value>& p = powers[j];
        shared_weights_.store(at, k_.pack({p[i], p[i + 1], p[i + 2], p[i + 3]}));
      }
  }

  void add_values() {
    const uint32_t steps = unrolled(t_.tile);
    k_.for_(k_.constant(Type::u32, t_.tile / steps), [&](Value number) {
      std::vector<Value> sums;
      for (const Variable& sum : sums_) sums.push_back(sum.get());
      for (uint32_t step = 0; step < steps; ++step) {
        const Value at = number * steps + step;
        const std::vector<Value> weights = own_rows(shared_weights_, at);
        for (uint32_t c = 0; c < columns_; c += vector) {
          const std::vector<Value> v =
              strip(shared_values_, at * (width_ / vector) + c / vector * across + column_, vector);
          for (uint32_t i = 0; i < rows_; ++i)
            for (uint32_t j = 0; j < vector; ++j) {
              Value& sum = sums[i * columns_ + c + j];
              sum = product_sum(weights[i], v[j], sum);
            }
        }
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
        for (uint32_t c = 0; c < columns_; c += vector) {
          const Value column = (column_ + c / vector * across) * vector;
          const auto sum = [&](uint32_t j) { return sums_[i * columns_ + c + j].get() * scale; };
          if (whole) {
            k_.if_(column < s_.width, [&] {
              result_.store((start + convert(column, index_)) / vector,
                            k_.pack({sum(0), sum(1), sum(2), sum(3)}));
            });
            continue;
          }
          for (uint32_t j = 0; j < vector; ++j)
            k_.if_(column + j < s_.width,
                   [&] { result_[start + convert(column + j, index_)] = convert(sum(j), s_.type); });
        }
      });
    }
  }

  const AttentionShape& s_;
  const AttentionTiling& t_;
  const uint32_t rows_, down_, lanes_;     // queries of a lane; lanes down the queries; all lanes
  const uint32_t part_, width_, columns_;  // keys of a lane; columns of the values, and those of a lane
  const Type index_;
  Builder k_;
  Array queries_, keys_, values_, result_;
  // Turned, so that a lane reads its rows, or its keys, at one step of the depth in a vector.
  Array shared_queries_, shared_keys_, shared_values_, shared_weights_, scratch_;
  Value first_query_, query_rows_, key_rows_, lane_, row_, column_;
  std::vector<Variable> largest_, total_, sums_;
};

}  // namespace fused_attention

std::optional<AttentionTiling> attention_tiling(const AttentionShape& shape, const Limits& limits) {
  using namespace fused_attention;
  const bool is_half = shape.type == Type::f16 || shape.type == Type::bf16;
  if (shape.type != Type::f32 && !is_half) return std::nullopt;
  if (!limits.lanes_by_hand || shape.depth == 0 || shape.depth > 128 || shape.width == 0 || shape.width > 128)
    return std::nullopt;
  if (is_half && (!limits.storage16 || !limits.float16)) return std::nullopt;
  if (shape.keys >= uint64_t{1} << 30 || shape.queries >= uint64_t{1} << 30) return std::nullopt;
  for (const uint32_t tile : {32u, 16u})
    for (const uint32_t block : {64u, 32u, 16u}) {
      AttentionTiling t{block, tile, 8, false, false, limits.fused_fma};
      const uint32_t lanes = block / t.rows * across;
      const uint32_t together = limits.subgroup_size;
      t.shuffles =
          limits.subgroup_shuffle && limits.fixed_subgroups && together >= across && lanes % together == 0;
      t.interleaved = t.shuffles && together % (2 * across) == 0;
      if (lanes > limits.max_lanes || shared_bytes(shape, t) > limits.shared_bytes) continue;
      const uint64_t tiles = (shape.keys + tile - 1) / tile;
      const uint64_t trips = tiles * (1 + shape.depth / unrolled(shape.depth) + tile / unrolled(tile));
      if (limits.max_loop_trips == 0 || trips < limits.max_loop_trips) return t;
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
