// Transforms on a CPU: a lane has a column, so that angles between stages are the same for all lanes, and
// what lies between stages is a vector at a time.
#include <algorithm>
#include <array>
#include <functional>

#include "ops/fft_numbers.hpp"
#include "ops/fft_pass.hpp"

namespace adit::ops {

using namespace kernel;

namespace fft_columns {
namespace {

// Numbers of one lane between two stages.
struct Cells {
  Array re, im;
  Complex load(Value at) const { return {re[at], im[at]}; }
  void store(Value at, Complex x) const {
    re[at] = x.re;
    im[at] = x.im;
  }
};

class ColumnWriter {
 public:
  ColumnWriter(const FftPass& pass, uint32_t lanes)
      : pass_(pass), lanes_(lanes), k_("fft_columns", Team::many(1)), loose_(k_, pass.fused) {}

  FftLaunch launch() {
    from_ = k_.buffer("x", pass_.type, Access::read);
    to_ = k_.buffer("result", pass_.type, Access::write);
    // Neighbours along the fastest axis lie beside each other, and the rest of their place is the team's.
    // Lanes are always all there, so that one form of the code is enough: the last team of a row goes back to
    // where it is full, and does some columns once more; where there are too few, lanes share the last one.
    const bool along_one = pass_.columns[0].extent >= lanes_;
    const uint64_t extent = along_one ? pass_.columns[0].extent : pass_.column_count();
    const uint64_t blocks = (extent + lanes_ - 1) / lanes_;
    const Value team = k_.team(index_type());
    const Value start =
        min(team % number(blocks) * number(lanes_), number(std::max(extent, lanes_) - lanes_));
    Place rest{team.like(0), team.like(0), team.like(0)};
    if (along_one) rest = place_of(team / number(blocks), 1, rest);
    k_.each(k_.constant(Type::u32, lanes_), [&](Value i) {
      Value column = start + convert(i, start.type());
      if (extent < lanes_) column = min(column, number(extent - 1));
      place_ = along_one ? further(rest, column, pass_.columns[0]) : place_of(column, 0, rest);
      stages();
    });
    const uint64_t rows = along_one ? pass_.column_count() / extent : 1;
    return {k_.finish(), blocks * rows};
  }

 private:
  struct Place {
    Value in, out, turn;
  };
  static int64_t number(uint64_t n) { return static_cast<int64_t>(n); }
  Type index_type() const { return pass_.is_wide() ? Type::u64 : Type::u32; }

  // A stride of 1 is no product, for then lanes are seen to lie beside each other.
  static Value further_by(Value from, Value places, uint64_t stride) {
    if (stride == 0) return from;
    return from + (stride == 1 ? places : places * number(stride));
  }
  static Place further(const Place& from, Value places, const FftAxis& axis) {
    return {further_by(from.in, places, axis.in), further_by(from.out, places, axis.out),
            further_by(from.turn, places, axis.turn)};
  }
  Place place_of(Value column, size_t first_axis, Place place) const {
    for (size_t i = first_axis; i < pass_.columns.size(); ++i) {
      const bool is_last = i + 1 == pass_.columns.size();
      place = further(place, is_last ? column : column % number(pass_.columns[i].extent), pass_.columns[i]);
      if (!is_last) column = column / number(pass_.columns[i].extent);
    }
    return place;
  }

  Value index(Value small) const { return convert(small, index_type()); }
  Complex load(const Cells* cells, Value at) {
    if (cells) return cells->load(at);
    const Value pair = from_.load_vector(place_.in + index(at) * number(pass_.in), 2);
    return opened(pair, pass_.swap_in);
  }
  void store(const Cells* cells, Value at, Complex x) {
    if (cells) return cells->store(at, x);
    to_.store(place_.out + index(at) * number(pass_.out), packed(closed(x, pass_.swap_out, pass_.scale)));
  }
  Cells cells() {
    const auto length = static_cast<uint32_t>(pass_.length);
    return {k_.array(pass_.type, length), k_.array(pass_.type, length)};
  }

  void stages() {
    std::array<Cells, 2> between;
    for (size_t i = 1; i < std::min<size_t>(3, pass_.radices.size()); ++i) between[i - 1] = cells();
    uint64_t done = 1;
    for (size_t s = 0; s < pass_.radices.size(); ++s) {
      const bool is_last = s + 1 == pass_.radices.size();
      stage(pass_.radices[s], done, s == 0 ? nullptr : &between[(s - 1) % 2],
            is_last ? nullptr : &between[s % 2]);
      done *= pass_.radices[s];
    }
  }

  void loop(uint64_t count, const std::function<void(Value)>& body) {
    const Value end = k_.constant(Type::u32, count);
    count == 1 ? body(end.like(0)) : k_.for_(end, body);
  }

  // `done` is the product of the radices before it: transforms of that length become ones of `radix` times
  // it.
  void stage(uint32_t radix, uint64_t done, const Cells* from, const Cells* to) {
    const uint64_t apart = pass_.length / radix, blocks = apart / done;
    std::vector<Complex> last;
    if (!to && pass_.turns > 1)
      last = turned_by_steps(place_.turn * number(done), pass_.turns, radix, pass_.type, pass_.turns);
    loop(done, [&](Value q) {
      std::vector<Complex> turns;
      if (done > 1) turns = turned_by_steps(q, done * radix, radix, pass_.type, done);
      Complex base{};
      if (!last.empty()) base = turned(place_.turn * index(q), pass_.turns, pass_.type, pass_.turns);
      loop(blocks, [&](Value b) {
        std::vector<Complex> x;
        for (uint32_t r = 0; r < radix; ++r) {
          x.push_back(load(from, b * number(done) + q + number(r * apart)));
          if (done > 1 && r > 0) x.back() = x.back() * turns[r];
        }
        x = small_fft(x);
        for (uint32_t r = 0; r < radix; ++r) {
          if (!last.empty()) x[r] = x[r] * (r == 0 ? base : base * last[r]);
          store(to, b * number(done * radix) + q + number(r * done), x[r]);
        }
      });
    });
  }

  const FftPass& pass_;
  uint64_t lanes_;
  Builder k_;
  Loose loose_;
  Array from_, to_;
  Place place_;
};

}  // namespace
}  // namespace fft_columns

FftLaunch fft_in_columns(const FftPass& pass, uint32_t lanes) {
  return fft_columns::ColumnWriter(pass, lanes).launch();
}

}  // namespace adit::ops
