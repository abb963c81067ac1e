#include "ops/fft_host.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "ops/fft_host_angles.hpp"
#include "ops/fft_host_lengths.hpp"
#include "ops/fft_host_pairs.hpp"
#include "ops/fft_host_pass.hpp"
#include "support/threads.hpp"

namespace adit::ops {

namespace fft_host {
namespace {

// Angles between passes are a table up to this length, and products of two small ones beyond. Vectors of 16
// bytes were measured on a Neoverse V1, longer ones on x86-64.
uint64_t longest_table() { return uint64_t{1} << (host_fft_kernels().bytes == 16 ? 16 : 17); }
// Scratch of a thread that transforms rows by itself; longer ones all threads share.
constexpr uint64_t most_own_scratch = uint64_t{4} << 20;
// Work, in about nanoseconds, from which threads gain more than they cost.
constexpr double least_shared_work = 15000;

template <class T>
HostTable<T> table_of(uint64_t count, const std::function<std::complex<double>(uint64_t)>& number) {
  auto table = std::make_shared<std::vector<std::complex<T>>>(count);
  for (uint64_t i = 0; i < count; ++i) (*table)[i] = std::complex<T>(number(i));
  return table;
}

// --- Plans -------------------------------------------------------------------------------------------------
// Where number p of a transform lies, and its neighbour i: at p * along + i * lane.
struct Layout {
  uint64_t along = 2, lane = 2, imag = 1, outer = 0;
};

template <class T>
struct Buffers {
  const T* x = nullptr;
  T *result = nullptr, *a = nullptr, *b = nullptr;
};

void append_axis(std::vector<HostAxis>& axes, const HostAxis& axis) {
  if (axis.extent == 1) return;
  if (!axes.empty()) {
    HostAxis& last = axes.back();
    const uint64_t n = last.extent;
    if (axis.in == last.in * n && axis.out == last.out * n && axis.place_in == last.place_in * n &&
        axis.place_out == last.place_out * n) {
      last.extent *= axis.extent;
      return;
    }
  }
  axes.push_back(axis);
}

// A thread's room for blocks, and for rows of its own; it stays.
std::byte* room_of(int which, size_t bytes) {
  struct Room {
    std::unique_ptr<std::byte[]> held;
    size_t bytes = 0;
  };
  thread_local Room rooms[2];
  Room& room = rooms[which];
  if (room.bytes < bytes) {
    room.bytes = 0;  // there is none while a new one is asked for
    room.held.reset();
    room.held.reset(new std::byte[bytes + 64]);
    room.bytes = bytes;
  }
  const auto address = reinterpret_cast<uintptr_t>(room.held.get());
  return room.held.get() + (64 - address % 64) % 64;
}

// What run_halves does to numbers k and m - k of a row, k > 0: a complex number is a vector of two.
template <class T>
void halves_of_a_row(bool joins, const std::vector<std::complex<T>>& halves, const T* x, T* y, uint64_t m,
                     uint64_t begin, uint64_t end) {
  using Two [[gnu::vector_size(2 * sizeof(T))]] = T;
  const Two conjugate = {1, -1}, half = {T(0.5), T(0.5)};
  const T sign = joins ? T(1) : T(-1);
  for (uint64_t k = begin; k < end; ++k) {
    Two a, b;
    std::memcpy(&a, x + 2 * k, sizeof a);
    std::memcpy(&b, x + 2 * (m - k), sizeof b);
    b *= conjugate;
    const Two d = a - b, even = (a + b) * half, turned = {-d[1], d[0]};
    const Two odd = d * halves[k].real() + turned * (sign * halves[k].imag());
    const Two low = even + odd, high = (even - odd) * conjugate;
    std::memcpy(y + 2 * (m - k), &high, sizeof high);
    std::memcpy(y + 2 * k, &low, sizeof low);
  }
}

template <class T>
class Plan final : public HostFftPlan {
 public:
  explicit Plan(const HostFft& wanted)
      : wanted_(wanted), lanes_(static_cast<uint64_t>(host_fft_kernels().bytes) / sizeof(T)) {
    describe();
    make();
  }

  uint64_t scratch_bytes() const override {
    return std::max(rows_alone() ? 0 : own_scratch(), single_ ? single_->scratch_bytes() : 0);
  }

  void run(const void* x, void* result, void* scratch) const override {
    const T* from = static_cast<const T*>(x);
    T* to = static_cast<T*>(result);
    if (has_last_) single_->run(from + wanted_.outer * in_.outer, to + wanted_.outer * out_.outer, scratch);
    if (rows_alone()) {
      const double work = work_ * static_cast<double>(wanted_.outer);
      const auto some = [&](uint64_t begin, uint64_t end) {
        T* own = reinterpret_cast<T*>(room_of(1, own_scratch()));
        for (uint64_t row = begin; row < end; ++row) one(buffers(from, to, row, own), 1);
      };
      if (threads_for(work) == 1) return some(0, wanted_.outer);
      return parallel(thread_count(), wanted_.outer, 1, some);
    }
    for (uint64_t row = 0; row < rows_; ++row)
      one(buffers(from, to, row, static_cast<T*>(scratch)), threads_for(work_));
  }

 private:
  using Pass = HostPass<T>;
  enum class Kind { pass, join, split, mirror, pair, part };
  struct Step {
    Kind kind = Kind::pass;
    int from = 0, to = 1;  // 0: x, 1: the result, 2 and 3: scratch
    Pass pass;
  };

  static unsigned threads_for(double work) { return work < least_shared_work ? 1 : thread_count(); }
  bool rows_alone() const { return rows_ > 1 && own_scratch() <= most_own_scratch; }
  uint64_t own_scratch() const { return 2 * room_ * sizeof(T); }
  Buffers<T> buffers(const T* x, T* result, uint64_t row, T* own) const {
    return {x + row * in_.outer, result + row * out_.outer, own, own + room_};
  }

  // --- What is transformed ---------------------------------------------------------------------------------
  void describe() {
    const uint64_t n = wanted_.length, inner = wanted_.inner, half = n / 2 + 1;
    const Layout whole{2 * inner, 2, 1, 2 * n * inner};
    Layout some{2 * inner, 2, 1, 2 * half * inner};
    Layout real = n % 2 ? Layout{inner, 1, 0, n * inner} : Layout{2 * inner, 1, inner, n * inner};
    const bool is_odd = n % 2 != 0;
    count_ = given_ = kept_ = n;
    in_ = out_ = whole;
    inverse_ = wanted_.inverse;
    if (wanted_.kind == HostFft::Kind::complex) return;
    if (!is_odd) count_ = n / 2;
    in_twos_ = is_odd && n > 1 && take_twos(real, some);
    in_pairs_ = is_odd && n > 1 && !in_twos_ && take_pairs(real, some);
    if (wanted_.kind == HostFft::Kind::of_real) {
      in_ = real, out_ = some;
      given_ = count_, kept_ = half;
      inverse_ = false;
      if (!is_odd) real_ = Pass::Real::join;
      if (in_twos_ || in_pairs_) real_ = Pass::Real::two;
    } else {
      in_ = some, out_ = real;
      given_ = half, kept_ = count_;
      inverse_ = true;
      real_ = is_odd ? Pass::Real::mirror : Pass::Real::split;
      if (in_twos_ || in_pairs_) real_ = Pass::Real::two_back;
    }
    if (!is_odd)
      halves_ = table_of<T>(count_ / 2 + 1,
                            [&](uint64_t k) { return std::complex<double>(0, -0.5) * turn_of(k, n); });
  }

  // Odd lengths have no halves: two rows of real numbers are one of complex ones, and a last one is left.
  // This is for rows of one block, and as many as fill its lanes.
  bool take_twos(Layout& real, Layout& some) {
    if (!column_of(wanted_.length).fits || wanted_.outer * wanted_.inner < 2 * lanes_) return false;
    if (wanted_.outer > 1) {
      if (wanted_.outer % 2 != 0) take_single();
      real.imag = real.outer, other_ = some.outer;
      real.outer *= 2, some.outer *= 2;
      wanted_.outer /= 2;
    } else if (wanted_.inner % 2 == 0) {
      real.imag = real.lane, other_ = some.lane;
      real.lane *= 2, some.lane *= 2;
      wanted_.inner /= 2;
    } else {
      return false;
    }
    return true;
  }

  // The same of longer rows, through memory: see fft_host_pairs.hpp.
  bool take_pairs(Layout& real, Layout& some) {
    if (column_of(wanted_.length).fits || wanted_.outer < 2 || wanted_.inner > 1) return false;
    take_single();
    real.outer *= 2, some.outer *= 2;
    wanted_.outer /= 2;
    return true;
  }

  void take_single() {
    HostFft one = wanted_;
    one.outer = 1;
    single_ = std::make_shared<Plan>(one);
    has_last_ = wanted_.outer % 2 != 0;
  }

  // The cheapest of: all in one block, passes of columns, and a convolution in such passes.
  void make() {
    const uint64_t inner = wanted_.inner, outer = wanted_.outer;
    const Column column = column_of(count_);
    const auto rows = static_cast<double>(outer);
    const double alone = static_cast<double>(up(outer * inner, lanes_) * count_) * (column.cost + pass_cost);
    const double halves =
        real_ == Pass::Real::no ? 0 : static_cast<double>(up(count_ * inner, lanes_)) * pass_cost;
    Cut cut = cut_for_host(count_, inner, lanes_);
    uint64_t length = count_;
    if (!is_smooth_for_host(count_)) {
      const uint64_t padded = chirp_length(count_);
      Cut other = cut_for_host(padded, inner, lanes_);
      other.cost = 2 * other.cost + static_cast<double>(up(padded * inner, lanes_)) * 3 * turn_cost;
      if (!other.lengths.empty() && (cut.lengths.empty() || other.cost < cut.cost))
        cut = other, length = padded;
    }
    const double parts = (cut.cost + halves) * rows;
    if (column.fits && (in_twos_ || cut.lengths.empty() || alone <= parts)) {
      work_ = alone;
      return make_one(column);
    }
    work_ = cut.cost + halves;
    rows_ = outer;
    room_ = 2 * (std::max(length, wanted_.length) + 1) * inner;
    if (in_pairs_) room_ = std::max(room_, up(single_->scratch_bytes(), 2 * sizeof(T)));
    room_ += 64 - room_ % 64;
    make_several(length, cut.lengths);
  }

  struct Chirp {
    HostTable<T> own, transform;  // and that of its conjugate, in `length` numbers
  };
  static Chirp chirp_for(uint64_t count, uint64_t length, bool backward) {
    std::vector<std::complex<double>> other(length);
    for (uint64_t j = 0; j < count; ++j)
      other[j] = other[(length - j) % length] = chirp_of(j, count, !backward) / static_cast<double>(length);
    return {table_of<T>(count, [&](uint64_t j) { return chirp_of(j, count, backward); }),
            transform_of(other)};
  }
  static HostTable<T> transform_of(const std::vector<std::complex<double>>& x) {
    std::vector<std::complex<double>> there(x.size());
    const Plan<double> plan({true, HostFft::Kind::complex, false, 1, x.size(), 1});
    std::vector<double> scratch(plan.scratch_bytes() / sizeof(double) + 1);
    plan.run(x.data(), there.data(), scratch.data());
    return table_of<T>(x.size(), [&](uint64_t j) { return there[j]; });
  }

  // --- Passes ----------------------------------------------------------------------------------------------
  // The last one of several scales the results.
  static std::vector<HostStage<T>> stages_of(uint64_t length, bool backward, double scale) {
    std::vector<HostStage<T>> stages;
    uint64_t done = 1;
    for (const uint64_t radix : radices_of(length)) {
      const double own = done > 1 && done * radix == length ? scale : 1;
      HostStage<T> stage{radix, done, backward, static_cast<T>(own), {}, {}};
      const auto add = [](std::vector<T>& list, std::complex<double> number, double sign) {
        list.push_back(static_cast<T>(number.real()));
        list.push_back(static_cast<T>(sign * number.imag()));
      };
      for (uint64_t q = 0; q < done; ++q)
        for (uint64_t r = 1; r < radix; ++r)
          add(stage.turns, own * turn_of(q * r, done * radix, backward), 1);
      for (uint64_t k = 1; k <= radix / 2 && radix % 2; ++k)
        for (uint64_t j = 1; j <= radix / 2; ++j) add(stage.roots, turn_of(j * k, radix), -1);
      stages.push_back(std::move(stage));
      done *= radix;
    }
    return stages;
  }

  static void set_column(Pass& pass, uint64_t count, const Column& column, bool backward, double scale) {
    pass.length = column.length;
    const bool is_alone = column.way == Column::Way::stages;
    pass.stages = stages_of(pass.length, backward && is_alone, is_alone ? scale : 1);
    if (!is_alone) pass.stages_back = stages_of(pass.length, true, scale);
    if ((is_alone ? pass.stages : pass.stages_back).size() < 2) pass.scale = static_cast<T>(scale);
    if (column.way == Column::Way::chirp) {
      const Chirp chirp = chirp_for(count, column.length, backward);
      pass.chirp = chirp.own, pass.kernel = chirp.transform;
    }
    if (column.way == Column::Way::order) set_order(pass, count, backward);
  }

  // x_(g^j) for the powers of g, convolved with exp(-2 pi i g^-j / n), are the results at g^-j.
  static void set_order(Pass& pass, uint64_t prime, bool backward) {
    const std::vector<uint32_t> powers = powers_of_root(prime);
    std::vector<uint32_t> back = powers;
    std::reverse(back.begin() + 1, back.end());
    const auto length = static_cast<double>(prime - 1);
    std::vector<std::complex<double>> kernel(prime - 1);
    for (size_t j = 0; j < kernel.size(); ++j) kernel[j] = turn_of(back[j], prime, backward) / length;
    pass.kernel = transform_of(kernel);
    pass.order = std::make_shared<std::vector<uint32_t>>(powers);
    pass.order_back = std::make_shared<std::vector<uint32_t>>(std::move(back));
  }

  double back_scale() const { return inverse_ ? 1 / static_cast<double>(count_) : 1; }

  // Vectors of 16 bytes are a part of a line of the cache.
  static uint64_t together() { return host_fft_kernels().bytes == 16 ? 4 : 1; }

  // Rows that are short go together too, since a block is little work. Where results leave the caches a
  // bundle is small, and its lines are asked for ahead. Measured on a Neoverse V1, 8 KiB and 2 KiB of
  // numbers, 4 KiB ahead, results of 8 MiB; and with AVX-512, where a block has four times as much.
  void put_together(Pass& pass) const {
    if (wanted_.inner > 1) {
      if (!in_twos_) pass.together = together();
      return;
    }
    const uint64_t result = lanes_ * out_.outer;
    const bool is_large = wanted_.outer * out_.outer * sizeof(T) > uint64_t{8} << 20;
    if (!in_twos_ && together() > 1) {
      const uint64_t most = (is_large ? uint64_t{2048} : uint64_t{8192}) / (lanes_ * 2 * sizeof(T) * count_);
      pass.together = std::clamp<uint64_t>(most, 1, host_bundle);
    }
    const uint64_t ahead = pass.together * result;
    if (is_large && ahead <= 256 * lanes_) pass.ahead = ahead;
  }

  // All in one: columns stay in their lanes.
  void make_one(const Column& column) {
    Pass pass;
    pass.given = given_, pass.kept = kept_;
    set_column(pass, count_, column, inverse_, back_scale());
    pass.in_along = in_.along, pass.out_along = out_.along;
    pass.in_imag = in_.imag, pass.out_imag = out_.imag;
    append_axis(pass.columns, {wanted_.inner, in_.lane, out_.lane, 0, 0});
    append_axis(pass.columns, {wanted_.outer, in_.outer, out_.outer, 0, 0});
    pass.count = wanted_.inner * wanted_.outer;
    put_together(pass);
    pass.real = real_, pass.half = real_ == Pass::Real::no ? 0 : count_;
    pass.halves = halves_, pass.other = other_;
    steps_.push_back({Kind::pass, 0, 1, std::move(pass)});
  }

  // One pass of several; see fft.cpp for how places go.
  Pass pass_of(const std::vector<uint64_t>& cut, size_t number, const Layout& in, const Layout& out,
               bool backward, double scale) const {
    Pass pass;
    const bool is_last = number + 1 == cut.size();
    uint64_t before = 1, after = 1, all = 1;
    for (size_t i = 0; i < cut.size(); ++i) {
      (i < number ? before : i > number ? after : all) *= cut[i];
    }
    const uint64_t own = cut[number];
    pass.given = pass.kept = own;
    set_column(pass, own, column_of(own), backward, is_last ? scale : 1);
    pass.in_along = after * in.along;
    pass.in_imag = in.imag, pass.out_imag = out.imag;
    pass.place_in_along = after;
    append_axis(pass.columns, {wanted_.inner, in.lane, out.lane, 0, 0});
    pass.count = wanted_.inner * before * after;
    pass.together = together();
    if (is_last) {
      pass.out_along = before * out.along;
      pass.place_out_along = before;
      uint64_t from = before * own, to = 1;
      for (size_t i = 0; i < number; ++i) {
        from /= cut[i];
        append_axis(pass.columns, {cut[i], from * in.along, to * out.along, from, to});
        to *= cut[i];
      }
      return pass;
    }
    pass.out_along = after * out.along;
    pass.place_out_along = after;
    append_axis(pass.columns, {after, in.along, out.along, 1, 1});
    append_axis(pass.columns, {before, own * after * in.along, own * after * out.along, 0, 0});
    turn_results(pass, own * after, after, backward);
    return pass;
  }

  static void turn_results(Pass& pass, uint64_t turns, uint64_t after, bool backward) {
    if (turns <= longest_table()) {
      pass.times_out =
          table_of<T>(turns, [&](uint64_t i) { return turn_of(i / after * (i % after), turns, backward); });
      return;
    }
    pass.turns = turns;
    while (uint64_t{1} << (2 * pass.low_bits) < turns) ++pass.low_bits;
    const uint64_t low = uint64_t{1} << pass.low_bits;
    pass.low_turns = table_of<T>(low, [&](uint64_t i) { return turn_of(i, turns, backward); });
    pass.high_turns =
        table_of<T>(turns / low + 1, [&](uint64_t i) { return turn_of(i * low, turns, backward); });
  }

  // A transform of `cut`, from one buffer to another by way of a third.
  void add_passes(const std::vector<uint64_t>& cut, int from, int by, int to, const Layout& in,
                  const Layout& out, bool backward, double scale) {
    const Layout between{2 * wanted_.inner, 2, 1, 0};
    for (size_t i = 0; i < cut.size(); ++i) {
      const bool is_first = i == 0, is_last = i + 1 == cut.size();
      steps_.push_back({Kind::pass, is_first ? from : by, is_last ? to : by,
                        pass_of(cut, i, is_first ? in : between, is_last ? out : between, backward, scale)});
    }
  }

  void make_several(uint64_t length, const std::vector<uint64_t>& cut) {
    const Layout between{2 * wanted_.inner, 2, 1, 0};
    const bool joins = real_ == Pass::Real::join || in_pairs_;
    int from = 0;
    Layout in = in_;
    if (in_pairs_) {
      steps_.push_back({Kind::pair, 0, 3, {}});
      from = 3, in = between;
    }
    if (real_ == Pass::Real::split || real_ == Pass::Real::mirror) {
      steps_.push_back({real_ == Pass::Real::split ? Kind::split : Kind::mirror, 0, 3, {}});
      from = 3, in = between;
    }
    const size_t first = steps_.size();
    if (length == count_) {
      add_passes(cut, from, 2, joins ? 3 : 1, in, joins ? between : out_, inverse_, back_scale());
    } else {
      add_passes(cut, from, 2, 3, in, between, false, 1);
      const Chirp chirp = chirp_for(count_, length, inverse_);
      steps_.back().pass.times_out = chirp.transform;
      add_passes(cut, 3, 3, joins ? 2 : 1, between, joins ? between : out_, true, back_scale());
      Pass &start = steps_[first].pass, &end = steps_.back().pass;
      start.times_in = chirp.own, start.limit_in = count_;
      end.times_out = chirp.own, end.limit_out = in_pairs_ ? count_ : std::min(count_, kept_);
    }
    if (wanted_.kind == HostFft::Kind::of_real && !joins) steps_.back().pass.limit_out = kept_;
    if (joins) steps_.push_back({in_pairs_ ? Kind::part : Kind::join, steps_.back().to, 1, {}});
  }

  // --- A run -----------------------------------------------------------------------------------------------
  void one(const Buffers<T>& buffers, unsigned threads) const {
    const T* other = buffers.x + in_.outer / 2;
    const uint64_t reals = in_pairs_ ? in_.outer / 2 : 0;
    const bool is_half = wanted_.kind == HostFft::Kind::to_real;
    const PairOfRows<T> rows{{buffers.x, reals, is_half}, {other, reals, is_half}};
    if (!rows.is_finite()) {  // each would spoil the other
      single_->run(buffers.x, buffers.result, buffers.a);
      return single_->run(other, buffers.result + out_.outer / 2, buffers.a);
    }
    for (const Step& step : steps_) {
      T* const places[] = {nullptr, buffers.result, buffers.a, buffers.b};
      const T* from = step.from == 0 ? buffers.x : places[step.from];
      T* to = places[step.to];
      if (step.kind == Kind::pair || step.kind == Kind::part) {
        run_pairs(rows, step.kind == Kind::pair, from, to, threads);
        continue;
      }
      if (step.kind != Kind::pass) {
        run_halves(step.kind, from, to, threads);
        continue;
      }
      const uint64_t blocks = up(step.pass.count, lanes_);
      const size_t room = host_room(step.pass);
      const auto some = [&](uint64_t begin, uint64_t end) {
        run_blocks(step.pass, from, to, begin, end, room_of(0, room));
      };
      if (threads == 1 || blocks == 1)
        some(0, blocks);
      else
        parallel(threads, blocks, std::max<uint64_t>(1, blocks / (4 * threads)), some);
    }
  }
  static void run_blocks(const HostPass<float>& pass, const float* from, float* to, uint64_t begin,
                         uint64_t end, void* room) {
    host_fft_kernels().run_f32(pass, from, to, begin, end, room);
  }
  static void run_blocks(const HostPass<double>& pass, const double* from, double* to, uint64_t begin,
                         uint64_t end, void* room) {
    host_fft_kernels().run_f64(pass, from, to, begin, end, room);
  }

  void run_pairs(const PairOfRows<T>& rows, bool joins, const T* x, T* y, unsigned threads) const {
    const uint64_t n = count_, row = (joins ? in_ : out_).outer / 2;
    const bool of_transforms = joins == (wanted_.kind == HostFft::Kind::to_real);
    const auto some = [&](uint64_t begin, uint64_t end) {
      if (of_transforms)
        joins ? rows.join_transforms(x, x + row, n, begin, end, y)
              : rows.part_transforms(x, n, begin, end, y, y + row);
      else
        joins ? rows.join(x, x + row, begin, end, y) : rows.part(x, begin, end, y, y + row);
    };
    const uint64_t count = of_transforms ? n / 2 + 1 : n;
    if (threads == 1) return some(0, count);
    parallel(threads, count, std::max<uint64_t>(1, count / (4 * threads)), some);
  }

  // Between real numbers and passes, through memory.
  void run_halves(Kind kind, const T* x, T* y, unsigned threads) const {
    const uint64_t inner = wanted_.inner, m = count_;
    const auto some = [&](uint64_t begin, uint64_t end) {
      if (kind != Kind::mirror && inner == 1 && begin < end) {
        if (begin > 0) return halves_of_a_row(kind == Kind::join, *halves_, x, y, m, begin, end);
        if (end > 1) halves_of_a_row(kind == Kind::join, *halves_, x, y, m, 1, end);
        end = 1;
      }
      for (uint64_t k = begin; k < end; ++k) {
        if (kind == Kind::mirror) {
          mirror_one(x, y, k);
          continue;
        }
        const bool joins = kind == Kind::join;
        const std::complex<T> c = joins ? (*halves_)[k] : std::conj((*halves_)[k]);
        const T *a = x + 2 * k * inner, *b = x + 2 * (joins && k == 0 ? 0 : m - k) * inner;
        T *low = y + 2 * k * inner, *high = y + 2 * (m - k) * inner;
        const T ends = !joins && k == 0 ? T(0) : T(1);  // of which only real parts count
        for (uint64_t i = 0; i < inner; ++i) {
          const T ar = a[2 * i], ai = ends * a[2 * i + 1], br = b[2 * i], bi = -ends * b[2 * i + 1];
          const T dr = ar - br, di = ai - bi, er = (ar + br) / 2, ei = (ai + bi) / 2;
          const T odd_r = dr * c.real() - di * c.imag(), odd_i = dr * c.imag() + di * c.real();
          if (k > 0 || joins) high[2 * i] = er - odd_r, high[2 * i + 1] = odd_i - ei;
          low[2 * i] = er + odd_r, low[2 * i + 1] = ei + odd_i;
        }
      }
    };
    const uint64_t pairs = m / 2 + 1;
    if (threads == 1) return some(0, pairs);
    parallel(threads, pairs, std::max<uint64_t>(1, pairs / (4 * threads)), some);
  }
  void mirror_one(const T* x, T* y, uint64_t k) const {
    const uint64_t inner = wanted_.inner;
    const T* own = x + 2 * k * inner;
    T *low = y + 2 * k * inner, *high = y + 2 * (count_ - k) * inner;
    for (uint64_t i = 0; i < inner; ++i) {
      low[2 * i] = own[2 * i], low[2 * i + 1] = k == 0 ? T(0) : own[2 * i + 1];
      if (k > 0) high[2 * i] = own[2 * i], high[2 * i + 1] = -own[2 * i + 1];
    }
  }

  HostFft wanted_;
  bool in_twos_ = false, in_pairs_ = false, has_last_ = false;
  std::shared_ptr<const Plan> single_;  // of a row without another
  uint64_t other_ = 0;                  // from the transform of a row to that of its other
  uint64_t lanes_ = 1;
  uint64_t count_ = 1, given_ = 1, kept_ = 1;  // complex numbers of a transform, and those in memory
  Layout in_, out_;
  bool inverse_ = false;
  typename Pass::Real real_ = Pass::Real::no;
  HostTable<T> halves_;
  std::vector<Step> steps_;
  uint64_t rows_ = 1, room_ = 0;  // transforms one after the other, and real numbers of each scratch
  double work_ = 0;               // of one of them
};

}  // namespace
}  // namespace fft_host

std::shared_ptr<const HostFftPlan> host_fft(const HostFft& wanted) {
  if (wanted.is_double) return std::make_shared<fft_host::Plan<double>>(wanted);
  return std::make_shared<fft_host::Plan<float>>(wanted);
}

}  // namespace adit::ops
