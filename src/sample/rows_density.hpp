// The density of few chains over many rows: the rows are spread over teams of the whole device, each of which
// leaves its share of the totals; a team for each chain then does the rest.
#pragma once

#include <optional>

#include "density/bind.hpp"
#include "sample/outside_density.hpp"

namespace adit::sampling {

// The schedule of such a density; none where more comes of its rows than some totals.
std::optional<Schedule> rows_schedule(const Density& density, const Limits& limits);
// Teams that the rows of a chain are spread over.
int64_t teams_for_rows(const Schedule& schedule, int64_t chains, const Limits& limits);

class RowsDensity final : public OutsideDensity {
 public:
  RowsDensity(const stats::ModelState& model, const Density& density, const Schedule& schedule,
              const std::vector<DataSet>& sets, int64_t chains_a_set, int64_t teams,
              std::shared_ptr<Device> device);
  double constant() const override { return rows_.data.constant; }
  std::vector<Buffer> leaves() const override {
    return {rows_.data.reals, rows_.data.places, rest_.data.reals, rest_.data.places};
  }
  const Buffer& points() const override { return points_; }
  void evaluate() override;
  Buffer values() const override { return values_; }
  Buffer gradients() const override { return gradients_; }

 private:
  struct Part {
    std::shared_ptr<const Kernel> kernel;
    BoundData data;
  };
  std::vector<Argument> arguments(const Part& part, std::initializer_list<Buffer> buffers) const;

  std::shared_ptr<Device> device_;
  int64_t chains_ = 0, chains_a_set_ = 0, teams_ = 1;
  bool has_sets_ = false;
  Part rows_, rest_;
  Buffer points_, shares_, values_, gradients_;
};

}  // namespace adit::sampling
