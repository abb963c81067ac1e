// Rows in groups: varying slopes of counts, crossed effects, and three levels one inside the other.
#include "models/models.hpp"

namespace adit::bench {

namespace {

// --- Counts with an intercept and a slope that vary by group ---

struct Slopes {
  int64_t groups, each;
  double dispersion;  // of a negative binomial; 0: Poisson
};
constexpr Slopes overdispersed{200, 12, 3}, plain{60, 30, 0};

Data slopes_data(const Slopes& slopes) {
  Source source(200 + static_cast<uint64_t>(slopes.groups));
  const std::vector<double> a = source.normals(slopes.groups, 1, 0.5);
  const std::vector<double> b = source.normals(slopes.groups, 0.5, 0.3);
  const std::vector<double> group = in_groups(slopes.groups, slopes.each);
  const std::vector<double> x = source.normals(slopes.groups * slopes.each);
  std::vector<double> y;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto g = static_cast<size_t>(group[i]);
    const double mean = std::exp(a[g] + b[g] * x[i]);
    const double spread = slopes.dispersion > 0 ? source.gamma(slopes.dispersion, slopes.dispersion) : 1;
    y.push_back(source.poisson(mean * spread));
  }
  Data data;
  data.add_number("row_count", double(x.size()), Kind::whole);
  data.add_number("groups", double(slopes.groups), Kind::whole);
  data.add("group", group, Kind::place);
  data.add("x", x);
  data.add("y", y, Kind::whole);
  return data;
}

// a + sa za[g] + (b + sb zb[g]) x
Tensor slopes_predictor(Model& model, const Data& data, int64_t groups) {
  const Plate plate = model.plate("groups", groups);
  const Tensor group = model.data("group", data["group"]), x = model.data("x", data["x"]);
  const Tensor a = model.sample("a", normal(0, 2)), b = model.sample("b", normal(0, 1));
  const Tensor sa = model.sample("sa", half_normal(1)), sb = model.sample("sb", half_normal(1));
  const Tensor za = model.sample("za", normal(0, 1), {plate});
  const Tensor zb = model.sample("zb", normal(0, 1), {plate});
  return take(a + sa * za, group) + take(b + sb * zb, group) * x;
}

Data varying_slopes_data() { return slopes_data(overdispersed); }
Model varying_slopes(const Data& data) {
  Model model("varying_slopes");
  const Tensor eta = slopes_predictor(model, data, overdispersed.groups);
  const Tensor phi = model.sample("phi", gamma(2, 0.5));
  model.observe("y", neg_binomial_2(exp(eta), phi), data["y"]);
  return model;
}

Data poisson_slopes_data() { return slopes_data(plain); }
Model poisson_slopes(const Data& data) {
  Model model("poisson_slopes");
  model.observe("y", poisson_log(slopes_predictor(model, data, plain.groups)), data["y"]);
  return model;
}

// --- Crossed: a yes or no of each subject to each stimulus ---

constexpr int64_t subjects = 30, stimuli = 40;

Data crossed_data() {
  Source source(3040);
  const std::vector<double> by_subject = source.normals(subjects, 0, 1);
  const std::vector<double> by_stimulus = source.normals(stimuli, 0, 0.7);
  std::vector<double> subject, stimulus, y;
  for (size_t i = 0; i < by_subject.size(); ++i)
    for (size_t j = 0; j < by_stimulus.size(); ++j) {
      subject.push_back(double(i));
      stimulus.push_back(double(j));
      y.push_back(source.bernoulli(0.3 + by_subject[i] + by_stimulus[j]));
    }
  Data data;
  data.add_number("row_count", double(y.size()), Kind::whole);
  data.add_number("subjects", subjects, Kind::whole);
  data.add_number("stimuli", stimuli, Kind::whole);
  data.add("subject", subject, Kind::place);
  data.add("stimulus", stimulus, Kind::place);
  data.add("y", y, Kind::whole);
  return data;
}

Model crossed(const Data& data) {
  Model model("crossed");
  const Plate each_subject = model.plate("subjects", subjects),
              each_stimulus = model.plate("stimuli", stimuli);
  const Tensor subject = model.data("subject", data["subject"]);
  const Tensor stimulus = model.data("stimulus", data["stimulus"]);
  const Tensor mu = model.sample("mu", normal(0, 2));
  const Tensor s_subject = model.sample("s_subject", half_normal(1));
  const Tensor s_stimulus = model.sample("s_stimulus", half_normal(1));
  const Tensor z_subject = model.sample("z_subject", normal(0, 1), {each_subject});
  const Tensor z_stimulus = model.sample("z_stimulus", normal(0, 1), {each_stimulus});
  const Tensor logit = mu + take(s_subject * z_subject, subject) + take(s_stimulus * z_stimulus, stimulus);
  model.observe("y", bernoulli_logit(logit), data["y"]);
  return model;
}

// --- Nested: pupils in classes in schools, centred ---

constexpr int64_t schools = 20, classes = 10, pupils = 12;

Data nested_data() {
  Source source(201012);
  std::vector<double> y;
  for (int64_t s = 0; s < schools; ++s) {
    const double school = source.normal(0.5, 0.8);
    for (int64_t c = 0; c < classes; ++c) {
      const double one = source.normal(school, 0.5);
      for (int64_t p = 0; p < pupils; ++p) y.push_back(rounded(source.normal(one, 1)));
    }
  }
  Data data;
  data.add_number("row_count", double(y.size()), Kind::whole);
  data.add_number("schools", schools, Kind::whole);
  data.add_number("classes", schools * classes, Kind::whole);
  data.add("school_of_class", in_groups(schools, classes), Kind::place);
  data.add("class_of_pupil", in_groups(schools * classes, pupils), Kind::place);
  data.add("y", y);
  return data;
}

Model nested(const Data& data) {
  Model model("nested");
  const Plate each_school = model.plate("schools", schools);
  const Plate each_class = model.plate("classes", schools * classes);
  const Tensor school_of_class = model.data("school_of_class", data["school_of_class"]);
  const Tensor class_of_pupil = model.data("class_of_pupil", data["class_of_pupil"]);
  const Tensor mu = model.sample("mu", normal(0, 5));
  const Tensor s_school = model.sample("s_school", half_normal(2));
  const Tensor s_class = model.sample("s_class", half_normal(2));
  const Tensor s_pupil = model.sample("s_pupil", half_normal(2));
  const Tensor by_school = model.sample("by_school", normal(mu, s_school), {each_school});
  const Tensor by_class =
      model.sample("by_class", normal(take(by_school, school_of_class), s_class), {each_class});
  model.observe("y", normal(take(by_class, class_of_pupil), s_pupil), data["y"]);
  return model;
}

}  // namespace

std::vector<BenchModel> grouped_models() {
  return {{"varying_slopes", overdispersed.groups * overdispersed.each, false, varying_slopes_data,
           varying_slopes},
          {"poisson_slopes", plain.groups * plain.each, false, poisson_slopes_data, poisson_slopes},
          {"crossed", subjects * stimuli, false, crossed_data, crossed},
          {"nested", schools * classes * pupils, false, nested_data, nested}};
}

}  // namespace adit::bench
