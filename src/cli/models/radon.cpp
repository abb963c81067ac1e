// Radon in houses of counties, with the county's uranium: a hierarchy with data, non-centred. 85 counties,
// 919 houses, 90 unknowns.
//
//   g0, g1, b ~ normal(0, 10), sa, sy ~ half_cauchy(5), z_j ~ normal(0, 1)
//   a_j = g0 + g1 u_j + sa z_j,  y_i ~ normal(a_county(i) + b floor_i, sy)
//
// The data are made up: g0 = 1.4, g1 = 0.7, b = -0.7, sa = 0.4, sy = 0.7.
#include "cli/models/models.hpp"
#include "cli/models/source.hpp"

namespace adit::examples {

namespace {

constexpr int64_t counties = 85, houses = 919;

struct RadonData {
  std::vector<double> uranium, floor, level;
  std::vector<int64_t> county;
};

RadonData radon_data() {
  Source source(85919);
  RadonData data;
  data.uranium = normals(source, counties, 0, 0.4);
  std::vector<double> intercept;
  for (const double u : data.uranium) intercept.push_back(1.4 + 0.7 * u + 0.4 * source.normal());
  for (int64_t i = 0; i < houses; ++i) {
    // Every county has a house.
    const int64_t county = i < counties ? i : source.below(counties);
    const double floor = source.uniform() < 0.17 ? 1 : 0;
    data.county.push_back(county);
    data.floor.push_back(floor);
    data.level.push_back(
        rounded(intercept[static_cast<size_t>(county)] - 0.7 * floor + 0.7 * source.normal()));
  }
  return data;
}

}  // namespace

Model radon() {
  const RadonData data = radon_data();
  Model model("radon");
  const Plate county = model.plate("county", counties);
  model.plate("house", houses);
  const Tensor uranium = model.data("uranium", tensor(data.uranium));
  const Tensor floor = model.data("floor", tensor(data.floor));
  const Tensor place = model.data("county_of_house", tensor(data.county));
  const Tensor g0 = model.sample("g0", normal(0, 10)), g1 = model.sample("g1", normal(0, 10));
  const Tensor b = model.sample("b", normal(0, 10));
  const Tensor sa = model.sample("sa", half_cauchy(5)), sy = model.sample("sy", half_cauchy(5));
  const Tensor z = model.sample("z", normal(0, 1), {county});
  const Tensor a = model.deterministic("a", g0 + g1 * uranium + sa * z, {county});
  model.observe("y", normal(take(a, place) + b * floor, sy), tensor(data.level));
  return model;
}

}  // namespace adit::examples
