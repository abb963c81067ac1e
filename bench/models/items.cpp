// Answers: item response with one and two parameters an item, and ordered answers.
#include <algorithm>
#include <numbers>

#include "models/models.hpp"

namespace adit::bench {

namespace {

// --- Item response ---

constexpr int64_t persons = 400, items = 30;

Data answers(bool discriminates) {
  Source source(discriminates ? 400302 : 400301);
  const std::vector<double> ability = source.normals(persons), difficulty = source.normals(items);
  const std::vector<double> log_slope = source.normals(items, 0, 0.4);
  std::vector<double> person, item, y;
  for (size_t p = 0; p < ability.size(); ++p)
    for (size_t i = 0; i < difficulty.size(); ++i) {
      person.push_back(double(p));
      item.push_back(double(i));
      y.push_back(
          source.bernoulli((discriminates ? std::exp(log_slope[i]) : 1.2) * (ability[p] - difficulty[i])));
    }
  Data data;
  data.add_number("row_count", double(y.size()), Kind::whole);
  data.add_number("persons", persons, Kind::whole);
  data.add_number("items", items, Kind::whole);
  data.add("person", person, Kind::place);
  data.add("item", item, Kind::place);
  data.add("y", y, Kind::whole);
  return data;
}

Data irt_1pl_data() { return answers(false); }
Model irt_1pl(const Data& data) {
  Model model("irt_1pl");
  const Plate each_person = model.plate("persons", persons), each_item = model.plate("items", items);
  const Tensor person = model.data("person", data["person"]), item = model.data("item", data["item"]);
  const Tensor spread = model.sample("spread", half_normal(1));
  const Tensor ability = model.sample("ability", normal(0, 1), {each_person});
  const Tensor difficulty = model.sample("difficulty", normal(0, 2), {each_item});
  model.observe("y", bernoulli_logit(take(spread * ability, person) - take(difficulty, item)), data["y"]);
  return model;
}

Data irt_2pl_data() { return answers(true); }
Model irt_2pl(const Data& data) {
  Model model("irt_2pl");
  const Plate each_person = model.plate("persons", persons), each_item = model.plate("items", items);
  const Tensor person = model.data("person", data["person"]), item = model.data("item", data["item"]);
  const Tensor ability = model.sample("ability", normal(0, 1), {each_person});
  const Tensor slope = model.sample("slope", lognormal(0, 0.5), {each_item});
  const Tensor difficulty = model.sample("difficulty", normal(0, 2), {each_item});
  const Tensor logit = take(slope, item) * (take(ability, person) - take(difficulty, item));
  model.observe("y", bernoulli_logit(logit), data["y"]);
  return model;
}

// --- Ordered probit: five answers, four points between them ---

constexpr int64_t answered = 2000, answer_count = 5, causes = 3;

Data ordered_probit_data() {
  Source source(20005);
  const std::vector<double> x = source.normals(answered * causes), w = {0.8, -0.5, 0.3};
  const std::vector<double> cut = {-1.5, -0.4, 0.5, 1.6};
  std::vector<double> y;
  for (int64_t i = 0; i < answered; ++i) {
    const double felt = row_times(x, i, w) + source.normal();
    y.push_back(double(std::upper_bound(cut.begin(), cut.end(), felt) - cut.begin()));
  }
  Data data;
  data.add_number("row_count", answered, Kind::whole);
  data.add_number("column_count", causes, Kind::whole);
  data.add_number("answers", answer_count, Kind::whole);
  data.add("x", x, {answered, causes});
  data.add("y", y, Kind::place);  // as Stan counts its answers
  return data;
}

Tensor normal_cdf(const Tensor& x) { return 0.5 * erfc(x * (-1 / std::numbers::sqrt2)); }

Model ordered_probit(const Data& data) {
  Model model("ordered_probit");
  const Tensor x = model.data("x", data["x"]);
  const Tensor b = model.sample("b", normal(0, 2), {causes});
  const Tensor cut = model.parameter("cut", constraint::ordered(), {answer_count - 1});
  model.add_log_density("cut_prior", normal(0, 3).log_density(cut));
  const Tensor eta = dot(x, b);
  // The ends are far enough out that the normal's distribution function is 0 and 1 there.
  const Tensor far = tensor({100.0}), ends = concatenate({-far, cut, far});
  const auto log_mass = [=](const Tensor& y) {
    const Tensor answer = as_type(y, DType::i64);
    const Tensor below = take(ends, answer) - eta, above = take(ends, answer + 1) - eta;
    return log(normal_cdf(above) - normal_cdf(below));
  };
  model.observe("y", custom("ordered_probit", log_mass, constraint::integer(0, answer_count - 1)), data["y"]);
  return model;
}

}  // namespace

std::vector<BenchModel> item_models() {
  return {{"irt_1pl", persons * items, false, irt_1pl_data, irt_1pl},
          {"irt_2pl", persons * items, false, irt_2pl_data, irt_2pl},
          {"ordered_probit", answered, false, ordered_probit_data, ordered_probit}};
}

}  // namespace adit::bench
