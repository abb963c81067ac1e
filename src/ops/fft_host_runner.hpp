// Passes of transforms on a CPU over vectors of `bytes`. The sources of the kinds of vectors include it, each
// in the target of its processor and after the headers of others.
#pragma once

#include <algorithm>
#include <utility>

#include "ops/fft_host_ends.hpp"
#include "ops/fft_host_pass.hpp"
#include "ops/fft_host_reals.hpp"
#include "ops/fft_host_stages.hpp"

namespace adit::ops::fft_host {
namespace {

template <class T, int bytes>
struct Runner : Reals<T, bytes> {
  using Reals<T, bytes>::halves, Reals<T, bytes>::mirror, Reals<T, bytes>::separate, Reals<T, bytes>::combine;
  using Reals<T, bytes>::largest, Reals<T, bytes>::power, Reals<T, bytes>::scale, Reals<T, bytes>::any;
  using Reals<T, bytes>::mantissa, Reals<T, bytes>::most_exponent;
  using typename Reals<T, bytes>::Bits;
  using V = typename Lanes<T, bytes>::Vector;
  static constexpr int width = Lanes<T, bytes>::width;
  using Pass = HostPass<T>;
  using Columns = Block<width>;
  using Bundled = Bundle<width>;
  using Own = Source<V, T, width>;
  using Their = Sink<V, T, width>;
  using Scaled = Sink<V, T, width, true>;
  using Turned = TurningSink<V, T, width>;
  using Stepped = SteppingSink<V, T, width>;
  using Angles = Steps<V, T, width>;

  // Columns one after the other.
  struct Cursor {
    static constexpr size_t most = 8;
    const Pass& pass;
    uint64_t at[most] = {}, in = 0, out = 0, place_in = 0, place_out = 0, left;

    Cursor(const Pass& whole, uint64_t column) : pass(whole), left(whole.count - column) {
      for (size_t i = 0; i < pass.columns.size(); ++i) {
        const HostAxis& axis = pass.columns[i];
        at[i] = i + 1 < pass.columns.size() ? column % axis.extent : column;
        column /= axis.extent;
        move(axis, at[i]);
      }
    }
    void move(const HostAxis& axis, uint64_t steps) {
      in += steps * axis.in, out += steps * axis.out;
      place_in += steps * axis.place_in, place_out += steps * axis.place_out;
    }
    void next() {
      --left;
      for (size_t i = 0; i < pass.columns.size(); ++i) {
        const HostAxis& axis = pass.columns[i];
        move(axis, 1);
        if (++at[i] < axis.extent) return;
        move(axis, uint64_t{0} - axis.extent);
        at[i] = 0;
      }
    }
    void fill(Columns& block) {
      block.there = std::min<uint64_t>(width, left);
      if (pass.columns.size() == 1 && left > width) return fill_along(pass.columns[0], block);
      for (uint64_t lane = 0; lane < width; ++lane) {
        block.in[lane] = in, block.out[lane] = out;
        block.place_in[lane] = place_in, block.place_out[lane] = place_out;
        if (left > 1) next();
      }
    }
    // A whole block along the only axis, with more to come.
    void fill_along(const HostAxis& axis, Columns& block) {
      for (uint64_t lane = 0; lane < width; ++lane) {
        block.in[lane] = in + lane * axis.in, block.out[lane] = out + lane * axis.out;
        block.place_in[lane] = place_in + lane * axis.place_in;
        block.place_out[lane] = place_out + lane * axis.place_out;
      }
      move(axis, width);
      at[0] += width, left -= width;
    }
  };

  // --- From memory and back --------------------------------------------------------------------------------
  static void read(const Pass& pass, const Columns& block, const T* in, V* to) {
    const uint64_t along = pass.in_along;
    if (pass.limit_in != ~uint64_t{0}) return read_singly(pass, block, in, to);
    if (pass.in_imag == 1 && along == 2 && 2 * pass.given >= width)
      return read_rows(block, in, to, 2 * pass.given, 1);
    if (pass.in_imag != 1 && along == 1 && pass.given >= width) {
      read_rows(block, in, to, pass.given, 2);
      if (pass.in_imag) return read_rows(block, in + pass.in_imag, to + 1, pass.given, 2);
      for (uint64_t j = 0; j < pass.given; ++j) to[2 * j + 1] = V{};
      return;
    }
    if (pass.in_imag == 1 && block.there == width && follow(block.in, 2)) {
      const T* from = in + block.in[0];
      for (uint64_t j = 0; j < pass.given; ++j, from += along) {
        Number<V> x;
        load_pairs<width>(from, from + width, x);
        to[2 * j] = x.re, to[2 * j + 1] = x.im;
      }
    } else if (pass.in_imag != 1 && block.there == width && follow(block.in, 1)) {
      const T* from = in + block.in[0];
      for (uint64_t j = 0; j < pass.given; ++j, from += along) {
        load(to[2 * j], from);
        if (pass.in_imag)
          load(to[2 * j + 1], from + pass.in_imag);
        else
          to[2 * j + 1] = V{};
      }
    } else {
      read_singly(pass, block, in, to);
    }
  }
  static void read_singly(const Pass& pass, const Columns& block, const T* in, V* to) {
    const bool follows =
        pass.in_imag == 1 && block.there == width && follow(block.in, 2) && follow(block.place_in, 1);
    for (uint64_t j = 0; j < pass.given; ++j) {
      const uint64_t place = j * pass.place_in_along;
      if (follows && block.place_in[width - 1] + place < pass.limit_in) {
        const T* at = in + block.in[0] + j * pass.in_along;
        Number<V> x;
        load_pairs<width>(at, at + width, x);
        to[2 * j] = x.re, to[2 * j + 1] = x.im;
        continue;
      }
      // Not lane by lane in a vector, which would go through memory for each.
      T *reals = reinterpret_cast<T*>(to + 2 * j), *others = reinterpret_cast<T*>(to + 2 * j + 1);
      for (int lane = 0; lane < width; ++lane) {
        const bool is_there = block.place_in[lane] + place < pass.limit_in;
        const T* at = in + block.in[lane] + j * pass.in_along;
        reals[lane] = is_there ? at[0] : T(0);
        others[lane] = is_there && pass.in_imag ? at[pass.in_imag] : T(0);
      }
    }
  }
  // Columns whose `reals` numbers follow each other: squares of them are turned over, to every `step`th
  // vector.
  static void read_rows(const Columns& block, const T* in, V* to, uint64_t reals, uint64_t step) {
    for (uint64_t j = 0; j + width <= reals; j += width) read_square(block, in, to, j, step);
    // The last square may overlap the one before it.
    if (reals % width) read_square(block, in, to, reals - width, step);
  }
  static void read_square(const Columns& block, const T* in, V* to, uint64_t j, uint64_t step) {
    V rows[width];
    ADIT_UNROLLED
    for (int i = 0; i < width; ++i) load(rows[i], in + block.in[i] + j);
    turn_over<width / 2, width>(rows);
    V* own = to + step * j;
    ADIT_UNROLLED
    for (uint64_t i = 0; i < width; ++i) own[step * i] = rows[i];
  }

  static void write(const Pass& pass, const Columns& block, V* from, T* out) {
    if (pass.scale != 1)
      for (uint64_t j = 0; j < 2 * pass.kept; ++j) from[j] *= pass.scale;
    const uint64_t along = pass.out_along;
    if (pass.limit_out != ~uint64_t{0}) return write_singly(pass, block, from, out);
    if (pass.out_imag == 1 && along == 2 && 2 * pass.kept >= width)
      return write_rows(block, from, out, 2 * pass.kept, 1);
    if (pass.out_imag != 1 && along == 1 && pass.kept >= width) {
      write_rows(block, from, out, pass.kept, 2);
      if (pass.out_imag) write_rows(block, from + 1, out + pass.out_imag, pass.kept, 2);
      return;
    }
    if (pass.out_imag == 1 && block.there == width && follow(block.out, 2)) {
      T* to = out + block.out[0];
      for (uint64_t j = 0; j < pass.kept; ++j, to += along) {
        store_pairs<width>(Number<V>{from[2 * j], from[2 * j + 1]}, to, to + width);
      }
    } else if (pass.out_imag != 1 && block.there == width && follow(block.out, 1)) {
      T* to = out + block.out[0];
      for (uint64_t j = 0; j < pass.kept; ++j, to += along) {
        store(from[2 * j], to);
        if (pass.out_imag) store(from[2 * j + 1], to + pass.out_imag);
      }
    } else {
      write_singly(pass, block, from, out);
    }
  }
  static void write_singly(const Pass& pass, const Columns& block, const V* from, T* out) {
    const bool follows =
        pass.out_imag == 1 && block.there == width && follow(block.out, 2) && follow(block.place_out, 1);
    for (uint64_t j = 0; j < pass.kept; ++j) {
      const uint64_t place = j * pass.place_out_along;
      if (follows && block.place_out[width - 1] + place < pass.limit_out) {
        T* to = out + block.out[0] + j * pass.out_along;
        store_pairs<width>(Number<V>{from[2 * j], from[2 * j + 1]}, to, to + width);
        continue;
      }
      const T* reals = reinterpret_cast<const T*>(from + 2 * j);
      const T* others = reinterpret_cast<const T*>(from + 2 * j + 1);
      for (uint64_t lane = 0; lane < block.there; ++lane) {
        if (block.place_out[lane] + place >= pass.limit_out) continue;
        T* at = out + block.out[lane] + j * pass.out_along;
        at[0] = reals[lane];
        if (pass.out_imag) at[pass.out_imag] = others[lane];
      }
    }
  }
  static void write_rows(const Columns& block, const V* from, T* out, uint64_t reals, uint64_t step) {
    const bool is_full = block.there == width;
    for (uint64_t j = 0; j + width <= reals; j += width) write_square(block, from, out, j, step, is_full);
    // The last square may overlap the one before it.
    if (reals % width) write_square(block, from, out, reals - width, step, is_full);
  }
  static void write_square(const Columns& block, const V* from, T* out, uint64_t j, uint64_t step,
                           bool is_full) {
    V rows[width];
    const V* own = from + step * j;
    ADIT_UNROLLED
    for (uint64_t i = 0; i < width; ++i) rows[i] = own[step * i];
    turn_over<width / 2, width>(rows);
    if (is_full) {
      ADIT_UNROLLED
      for (int i = 0; i < width; ++i) store(rows[i], out + block.out[i] + j);
    } else {
      for (uint64_t i = 0; i < block.there; ++i) store(rows[i], out + block.out[i] + j);
    }
  }

  // --- Products --------------------------------------------------------------------------------------------
  // Number j of a lane by that of the table at its place, + j along.
  static void multiply(V* x, uint64_t count, const std::vector<std::complex<T>>& table,
                       const uint64_t (&places)[width], uint64_t along) {
    const T* numbers = reinterpret_cast<const T*>(table.data());
    const uint64_t end = table.size();
    const bool is_same = follow(places, 0), follows = follow(places, 1);
    for (uint64_t j = 0; j < count; ++j) {
      const Number<V> own{x[2 * j], x[2 * j + 1]};
      Number<V> product;
      if (is_same) {
        const uint64_t place = places[0] + j * along;
        product = place < end ? times(own, numbers[2 * place], numbers[2 * place + 1]) : Number<V>{V{}, V{}};
      } else {
        Number<V> by{V{}, V{}};
        if (follows && places[0] + j * along + width <= end) {
          const T* at = numbers + 2 * (places[0] + j * along);
          load_pairs<width>(at, at + width, by);
        } else {
          for (int lane = 0; lane < width; ++lane) {
            const uint64_t place = places[lane] + j * along;
            if (place >= end) continue;
            by.re[lane] = numbers[2 * place], by.im[lane] = numbers[2 * place + 1];
          }
        }
        product = times(own, by.re, by.im);
      }
      x[2 * j] = product.re, x[2 * j + 1] = product.im;
    }
  }

  static void turn(const Pass& pass, const Columns& block, V* x, V* table) {
    Angles::fill(pass, block, table);
    for (uint64_t k = 0; k < pass.kept; ++k) {
      const Number<V> by = Angles::at(table, k);
      const Number<V> y = times(Number<V>{x[2 * k], x[2 * k + 1]}, by.re, by.im);
      x[2 * k] = y.re, x[2 * k + 1] = y.im;
    }
  }

  static Columns moved(const Columns& block, uint64_t in, uint64_t out) {
    Columns other = block;
    for (int lane = 0; lane < width; ++lane) other.in[lane] += in, other.out[lane] += out;
    return other;
  }

  // Stages between buffers, x and y in turns. Where the results lie.
  using Stages = std::vector<HostStage<T>>;
  static V* run_stages(const Stages& stages, size_t begin, size_t end, uint64_t length, V* x, V* y) {
    for (size_t i = begin; i < end; ++i) {
      if (is_written_out<V>(stages[i].radix))
        stages[i].done > 1 ? run_written_out<true, V>(stages[i], length, Buffer<V>{x}, Buffer<V>{y})
                           : run_written_out<false, V>(stages[i], length, Buffer<V>{x}, Buffer<V>{y});
      else
        stage_of_prime(stages[i], length, x, y);
      std::swap(x, y);
    }
    return x;
  }

  // Blocks of two vectors of 16 bytes are less than a line of the cache, and those of short rows little work:
  // several go together where they are as far from each other.
  static constexpr uint64_t most_together = bytes == 16 ? host_bundle : 1;

  static void run(const Pass& pass, const T* in, T* out, uint64_t begin, uint64_t end, V* room) {
    const uint64_t cells = 2 * (std::max({pass.length, pass.given, pass.kept, pass.half}) + 1);
    const uint64_t most = std::min(most_together, pass.together);
    Columns blocks[most_together];
    Cursor cursor(pass, begin * width);
    for (uint64_t number = begin; number < end;) {
      const uint64_t count = std::min(most, end - number);
      for (uint64_t i = 0; i < count; ++i) cursor.fill(blocks[i]);
      number += count;
      if (number < end) ask_for(out + cursor.out, pass.ahead);
      if (pass.real == Pass::Real::two || pass.real == Pass::Real::two_back) {
        for (uint64_t i = 0; i < count; ++i) transform_two(pass, blocks[i], in, out, room, cells);
      } else if (pass.kernel) {
        for (uint64_t i = 0; i < count; ++i) {
          prepare(pass, blocks[i], in, room);
          V* found = any_transform(pass, room, room + cells);
          finish(pass, blocks[i], found, out, room + (pass.together + 1) * cells);
        }
      } else if (Bundled bundle{blocks, count}; joins(pass, bundle)) {
        transform(pass, bundle, in, out, room, cells);
      } else {
        for (uint64_t i = 0; i < count; ++i) transform(pass, {blocks + i}, in, out, room, cells);
      }
    }
  }

  // Lines that will be written whole, piece by piece: a core that has them does not wait for each.
  static void ask_for(T* out, uint64_t count) {
    for (uint64_t i = 0; i < count; i += 64 / sizeof(T)) __builtin_prefetch(out + i, 1);
  }

  // True where blocks are one bundle.
  static bool joins(const Pass& pass, Bundled& bundle) {
    if (most_together == 1 || bundle.count == 1) return true;
    const Columns *blocks = bundle.blocks, &first = blocks[0], &second = blocks[1];
    bundle.in = second.in[0] - first.in[0], bundle.out = second.out[0] - first.out[0];
    bundle.place_out = second.place_out[0] - first.place_out[0];
    if (pass.columns.size() == 1) return blocks[bundle.count - 1].there == width;
    for (uint64_t i = 0; i < bundle.count; ++i)
      for (int lane = 0; lane < width; ++lane)
        if (blocks[i].there != width || blocks[i].in[lane] - first.in[lane] != i * bundle.in ||
            blocks[i].out[lane] - first.out[lane] != i * bundle.out ||
            blocks[i].place_out[lane] - first.place_out[lane] != i * bundle.place_out)
          return false;
    return true;
  }

  // The first stage and the last one may read and write memory.
  static void transform(const Pass& pass, const Bundled& bundle, const T* in, T* out, V* room,
                        uint64_t cells) {
    const Columns& block = bundle.blocks[0];
    const bool is_joined = pass.real == Pass::Real::join;
    const Stages& stages = pass.stages;
    size_t begin = 0, end = stages.size();
    const uint64_t n = pass.length;
    const auto next = static_cast<int64_t>(cells);
    V* const tables = room + (pass.together + 1) * next;
    const bool reads = end > 0 && is_written_out<V>(stages[0].radix) &&
                       (pass.real == Pass::Real::no || is_joined) && Own::serves(pass, block);
    const bool writes = end > 0 && is_written_out<V>(stages[end - 1].radix) && !is_joined &&
                        Their::serves(pass, block) && !(pass.turns && pass.times_out);
    const bool turns = writes && Turned::serves(pass, block), steps = writes && pass.turns;
    const bool is_plain = writes && !pass.times_out && !pass.turns;
    if (end == 1 && reads && is_plain)
      return run_written_out<false, V>(stages[0], n, Own(pass, bundle, in), Scaled(pass, bundle, out),
                                       bundle.count);
    const bool is_last = end > (reads ? 1 : 0) && pass.scale == 1 && (turns || steps || is_plain);
    if (reads) {
      run_written_out<false, V>(stages[0], n, Own(pass, bundle, in), Buffer<V>{room, next}, bundle.count);
      begin = 1;
    } else {
      for (uint64_t i = 0; i < bundle.count; ++i) prepare(pass, bundle.blocks[i], in, room + i * next);
    }
    // One buffer is free: a block goes between its own and that, and leaves the other one to the next block.
    V *found = room, *free = room + bundle.count * next;
    for (uint64_t i = bundle.count; i-- > 0;) {
      V* own = room + i * next;
      found = run_stages(stages, begin, is_last ? end - 1 : end, n, own, free);
      free = found == own ? free : own;
      if (!is_last) finish(pass, bundle.blocks[i], found, out, tables);
      if (is_last && steps) Angles::fill(pass, bundle.blocks[i], tables + i * Angles::cells(pass));
    }
    if (!is_last) return;
    const Buffer<V> from{found, next};
    const HostStage<T>& last = stages[end - 1];
    if (steps)
      run_written_out<true, V>(last, n, from, Stepped{{pass, bundle, out}, tables, Angles::cells(pass)},
                               bundle.count);
    else if (turns)
      run_written_out<true, V>(last, n, from, Turned(pass, bundle, out), bundle.count);
    else
      run_written_out<true, V>(last, n, from, Their(pass, bundle, out), bundle.count);
  }

  // What comes before the stages.
  static void prepare(const Pass& pass, const Columns& block, const T* in, V* x) {
    read(pass, block, in, x);
    uint64_t given = pass.given;
    if (pass.real == Pass::Real::split || pass.real == Pass::Real::mirror) {
      given = pass.half;
      pass.real == Pass::Real::split ? halves(pass.halves, x, given, true) : mirror(x, given);
    }
    if (pass.times_in) multiply(x, given, *pass.times_in, block.place_in, pass.place_in_along);
  }

  static V* convolve(const Pass& pass, V* x, V* y) {
    const uint64_t none[width] = {}, count = pass.chirp->size();
    multiply(x, count, *pass.chirp, none, 1);
    for (uint64_t j = count; j < pass.length; ++j) x[2 * j] = x[2 * j + 1] = V{};
    V* there = run_stages(pass.stages, 0, pass.stages.size(), pass.length, x, y);
    multiply(there, pass.length, *pass.kernel, none, 1);
    V* back =
        run_stages(pass.stages_back, 0, pass.stages_back.size(), pass.length, there, there == x ? y : x);
    multiply(back, count, *pass.chirp, none, 1);
    return back;
  }

  // x in the order of a primitive root's powers; what comes first is added to all results, and all to it.
  static V* convolve_in_order(const Pass& pass, V* x, V* y) {
    const uint64_t none[width] = {}, length = pass.length;
    const uint32_t *order = pass.order->data(), *order_back = pass.order_back->data();
    const Number<V> first{x[0], x[1]};
    for (uint64_t j = 0; j < length; ++j) y[2 * j] = x[2 * order[j]], y[2 * j + 1] = x[2 * order[j] + 1];
    V* there = run_stages(pass.stages, 0, pass.stages.size(), length, y, x);
    const T scale = pass.stages_back.back().scale;
    const Number<V> all{(first.re + there[0]) * scale, (first.im + there[1]) * scale};
    multiply(there, length, *pass.kernel, none, 1);
    there[0] += first.re, there[1] += first.im;
    const V* back =
        run_stages(pass.stages_back, 0, pass.stages_back.size(), length, there, there == x ? y : x);
    V* result = back == x ? y : x;
    result[0] = all.re, result[1] = all.im;
    for (uint64_t j = 0; j < length; ++j) {
      V* to = result + 2 * order_back[j];
      to[0] = back[2 * j], to[1] = back[2 * j + 1];
    }
    return result;
  }

  static V* any_transform(const Pass& pass, V* x, V* y) {
    if (!pass.kernel) return run_stages(pass.stages, 0, pass.stages.size(), pass.length, x, y);
    return pass.order ? convolve_in_order(pass, x, y) : convolve(pass, x, y);
  }

  // --- Two columns as one ----------------------------------------------------------------------------------
  // Reads both, to x alone or to y and x, and tells how large they are.
  struct Two {
    Bits a, b;
  };
  static Two read_two(const Pass& pass, const Columns& block, const T* in, V* x, V* y) {
    if (pass.real == Pass::Real::two) {
      read(pass, block, in, x);
      return {largest(x, pass.given, 2), largest(x + 1, pass.given, 2)};
    }
    read(pass, block, in, y);
    read(pass, moved(block, pass.other, 0), in, x);
    y[1] = x[1] = V{};  // of these only real parts count
    return {largest(y, 2 * pass.given, 1), largest(x, 2 * pass.given, 1)};
  }

  // Columns that differ in size are scaled first, so that neither loses digits to the other; where one has
  // numbers that are not finite each goes alone.
  static void transform_two(const Pass& pass, const Columns& block, const T* in, T* out, V* room,
                            uint64_t cells) {
    V *const x = room, *const y = room + cells, *const kept = room + 2 * cells;
    const bool is_back = pass.real == Pass::Real::two_back;
    const Two sizes = read_two(pass, block, in, x, y);
    const Bits a_size = sizes.a >> mantissa, b_size = sizes.b >> mantissa;
    const bool is_sound = !any((a_size == most_exponent) | (b_size == most_exponent));
    const bool is_even =
        is_sound && !any((a_size - b_size > 2) | (b_size - a_size > 2) | (sizes.a == 0) | (sizes.b == 0));
    for (int round = 0; round < (is_sound ? 1 : 2); ++round) {
      if (round > 0) read_two(pass, block, in, x, y);
      V *const a = is_back ? y : x, *const b = is_back ? x : x + 1;
      const uint64_t step = is_back ? 1 : 2, numbers = is_back ? 2 * pass.given : pass.given;
      if (!is_sound)
        for (uint64_t j = 0; j < numbers; ++j) (round == 0 ? b : a)[step * j] = V{};
      if (is_sound && !is_even) {
        scale(a, numbers, step, power(sizes.a, true));
        scale(b, numbers, step, power(sizes.b, true));
      }
      if (is_back) combine(y, x, pass.half);
      V* found = any_transform(pass, x, y);
      V *first = found, *second = found + 1;
      uint64_t apart = 2, results = pass.kept;
      if (!is_back) {
        first = found == x ? y : x, second = first + 2 * pass.kept;
        apart = 1, results = 2 * pass.kept;
        separate(found, pass.half, first, second);
      }
      if (is_sound && !is_even) {
        scale(first, results, apart, power(sizes.a, false));
        scale(second, results, apart, power(sizes.b, false));
      }
      if (!is_back) {
        if (is_sound || round == 0) write(pass, block, first, out);
        if (is_sound || round == 1) write(pass, moved(block, 0, pass.other), second, out);
      } else if (is_sound) {
        write(pass, block, found, out);
      } else {
        for (uint64_t j = 0; j < pass.kept; ++j)
          (round == 0 ? kept[j] : found[2 * j]) = round == 0 ? found[2 * j] : kept[j];
        if (round == 1) write(pass, block, found, out);
      }
    }
  }

  // And after them.
  static void finish(const Pass& pass, const Columns& block, V* x, T* out, V* tables) {
    const uint64_t results = pass.order ? pass.kept : std::min(pass.kept, pass.length);
    if (pass.times_out) multiply(x, results, *pass.times_out, block.place_out, pass.place_out_along);
    if (pass.turns) turn(pass, block, x, tables);
    if (pass.real == Pass::Real::join) halves(pass.halves, x, pass.half, false);
    write(pass, block, x, out);
  }
};

template <class T, int bytes>
void run_pass(const HostPass<T>& pass, const T* in, T* out, uint64_t begin, uint64_t end, void* room) {
  using Own = Runner<T, bytes>;
  Own::run(pass, in, out, begin, end, static_cast<typename Own::V*>(room));
}

template <int bytes>
HostKernels kernels_of() {
  return {bytes, run_pass<float, bytes>, run_pass<double, bytes>};
}

}  // namespace
}  // namespace adit::ops::fft_host
