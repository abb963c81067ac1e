#include "density/trips.hpp"
#include "kernel/fold.hpp"
#include "sample/leapfrog.hpp"

namespace adit::sampling {

using kernel::Access;

namespace {

class LeapfrogWriter {
 public:
  LeapfrogWriter(Builder& k, Chain& chain, DensityWriter& density, int64_t size, int64_t scratch, bool dense,
                 const LeapfrogShape& shape)
      : k_(k), chain_(chain), density_(density), n_(size), is_dense_(dense), shape_(shape) {
    // Lanes of a team all keep the same numbers then, which costs less than to hand them round; but a dense
    // metric's products are shared out.
    in_registers_ = n_ <= chain.written_out() && !(chain.by_team() && dense);
    own_count_ = (in_registers_ ? 0 : 3 * n_) + scratch;
  }

  void write() {
    declare();
    open();
    // Each round begins with the density where the last one arrived; the first one's is that of the start.
    k_.for_(steps_ + 1, [&](Value round) {
      const Value lp = density_.write(q_, g_, scratch_) + constant_;
      step(round, lp);
    });
  }

  int64_t work() const { return shape_.is_own ? 0 : own_count_; }

 private:
  void declare() {
    const auto buffer = [&](const char* name, Access access) {
      return k_.buffer(name, chain_.real(), access);
    };
    start_q_ = buffer("q", Access::read);
    start_p_ = buffer("p", Access::read);
    metric_ = buffer("inverse_metric", Access::read);
    positions_ = buffer("positions", Access::write);
    momenta_ = buffer("momenta", Access::write);
    gradients_ = buffer("gradients", Access::write);
    log_densities_ = buffer("log_densities", Access::write);
    if (work() > 0) memory_ = buffer("work", Access::read_write);
    points_ = k_.scalar("points", Type::u32);
    steps_ = k_.scalar("steps", Type::u32);
    step_ = k_.scalar("step", chain_.real());
    half_ = k_.scalar("half", chain_.real());
    constant_ = k_.scalar("constant", chain_.real());
    density_.declare(Value());
    point_ = k_.team();
  }

  // The point's numbers: in registers, in memory of its own, or in the buffer.
  void open() {
    Vector own;
    if (own_count_ > 0 && shape_.is_own) {
      const auto count = static_cast<uint32_t>(own_count_);
      const Array array = shape_.by_team ? k_.shared(chain_.real(), count) : k_.array(chain_.real(), count);
      own = Vector(array, chain_.index(0));
    } else if (own_count_ > 0) {
      own = Vector(memory_, point_ * own_count_);
    }
    if (in_registers_) {
      q_ = registers();
      p_ = registers();
      g_ = registers();
      if (own_count_ > 0) scratch_ = own;
    } else {
      q_ = own;
      p_ = own.from(n_);
      g_ = own.from(2 * n_);
      scratch_ = own.from(3 * n_);
    }
    over_all([&](Value i) {
      q_.set(i, start_q_[point_ * n_ + i]);
      p_.set(i, start_p_[point_ * n_ + i]);
      if (in_registers_ && chain_.by_team()) scaled_.push_back(step_ * metric_[i]);
    });
  }

  void over_all(const std::function<void(Value)>& f) {
    if (!in_registers_) return chain_.each(n_, f);
    for (int64_t i = 0; i < n_; ++i) f(chain_.index(i));
  }

  Vector registers() {
    std::vector<Variable> cells;
    for (int64_t i = 0; i < n_; ++i) cells.push_back(k_.variable(chain_.number(0)));
    return Vector(std::move(cells));
  }

  // The second half of the step that arrived here, unless this is the start; what came of it is stored; then
  // the first half of the next one (after the last round nobody looks at it).
  void step(Value round, Value lp) {
    const Value has_arrived = round != 0, row = (round - 1) * points_ + point_;
    const auto arrived = [&](Value i) {
      return select(has_arrived, fma(half_, g_.get(i), p_.get(i)), p_.get(i));
    };
    const auto store = [&](Value i) {
      const Value at = row * n_ + i;
      positions_[at] = q_.get(i);
      momenta_[at] = arrived(i);
      gradients_[at] = g_.get(i);
    };
    const auto go_on = [&](Value i) {
      const Value p = fma(half_, g_.get(i), arrived(i));
      p_.set(i, p);
      if (is_dense_) return;
      const auto known = kernel::constant_bits_of(i);
      q_.set(i, fma(scaled_.empty() ? step_ * metric_[i] : scaled_.at(known.value()), p, q_.get(i)));
    };
    if (chain_.by_team() && !in_registers_) {
      chain_.each(n_, [&](Value i) {
        k_.if_(has_arrived, [&] {
          store(i);
          k_.if_(i == 0, [&] { log_densities_[row] = lp; });
        });
        go_on(i);
      });
    } else {
      k_.if_(has_arrived, [&] {
        chain_.once([&] {
          over_all(store);
          log_densities_[row] = lp;
        });
      });
      over_all(go_on);
    }
    if (is_dense_) move_dense();
  }

  void move_dense() {
    over_all([&](Value i) {
      const Variable velocity = k_.variable(chain_.number(0));
      const auto add = [&](Value j) { velocity = fma(metric_[i * n_ + j], p_.get(j), velocity.get()); };
      if (in_registers_)
        for (int64_t j = 0; j < n_; ++j) add(chain_.index(j));
      else
        k_.for_(chain_.index(n_), add);
      q_.set(i, fma(step_, velocity.get(), q_.get(i)));
    });
  }

  Builder& k_;
  Chain& chain_;
  DensityWriter& density_;
  const int64_t n_;
  const bool is_dense_;
  const LeapfrogShape shape_;
  bool in_registers_ = false;
  int64_t own_count_ = 0;
  Array start_q_, start_p_, metric_, positions_, momenta_, gradients_, log_densities_, memory_;
  Value points_, steps_, step_, half_, constant_, point_;
  std::vector<Value> scaled_;  // the step times the metric, where it is kept
  Vector q_, p_, g_, scratch_;
};

}  // namespace

LeapfrogProgram make_leapfrog_program(const Density& density, const Schedule& schedule, bool dense,
                                      const LeapfrogShape& shape) {
  Builder k("leapfrog_chain",
            shape.by_team ? kernel::Team::many(shape.lanes) : kernel::Team::one(shape.lanes));
  const Type real = density.type == DType::f64 ? Type::f64 : Type::f32;
  k.set_rounds_exactly(schedule.on_cpu);
  const kernel::Loose loose(k, shape.fuses);
  Chain chain(k, shape.by_team, real, most_in_registers(density, schedule, shape.written_out), false);
  DensityWriter writer(chain, density, schedule);
  LeapfrogWriter leapfrog(k, chain, writer, density.size, schedule.scratch, dense, shape);
  leapfrog.write();
  LeapfrogProgram result;
  result.segments = writer.segments();
  result.work = leapfrog.work();
  result.program = k.finish();
  result.loop_trips = loop_trips(result.program, 1);
  return result;
}

}  // namespace adit::sampling
