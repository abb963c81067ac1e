// Draws in netCDF, there and back and beside Python.
#include "io/draws.hpp"

namespace adit::test {
namespace {

class NetcdfFiles : public DrawsFiles {
 protected:
  void SetUp() override {
    if (!ADIT_HAS_NETCDF) GTEST_SKIP() << "built without libnetcdf";
  }
  bool python(const std::string& mode, const std::string& file) const {
    const std::string start = std::string(ADIT_PYTHON) + " -B ";
    if (std::system((start + "-c 'import netCDF4' 2>/dev/null").c_str()) != 0) return false;
    const std::string command = start + "'" ADIT_DRAWS_SCRIPT "' " + mode + " '" + file + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return true;
  }
};

TEST_F(DrawsFiles, WithoutLibnetcdf) {
  if (ADIT_HAS_NETCDF) GTEST_SKIP() << "built with libnetcdf";
  expect_words(error_of([&] { write_netcdf(example(), path("a.nc")); }, ErrorKind::unsupported),
               {"[write_netcdf]", "install libnetcdf-dev"});
  const std::string file = text_file("b.nc", "\x89HDF\r\n\x1a\n");
  expect_words(error_of([&] { read_draws({file}); }, ErrorKind::unsupported), {"[read_draws]", "install"});
}

TEST_F(NetcdfFiles, BringsBackWhatWasWritten) {
  for (const std::string precision : {"f64", "f32"}) {
    Draws draws = full_example();
    draws.precision = precision;
    write_netcdf(draws, path("fit.nc"));
    EXPECT_EQ(names().size(), 1u);
    const Draws back = read_draws({path("fit.nc")});
    expect_same(back, draws);
    EXPECT_EQ(back.seconds.open, 0.5);
    EXPECT_EQ(back.seconds.compile, 0.25);
    EXPECT_EQ(back.coordinates, draws.coordinates);
    EXPECT_EQ(back.variables[1].dims, std::vector<std::string>{"school"});
    EXPECT_EQ(back.variables[2].dims, (std::vector<std::string>{"", ""}));
    ASSERT_EQ(back.observed.size(), 2u);
    EXPECT_EQ(back.observed[0].values, draws.observed[0].values);
    EXPECT_EQ(back.observed[0].dims, draws.observed[0].dims);
    EXPECT_EQ(back.observed[1].shape, Shape{});
  }
  Draws draws = example();
  draws.metric = "dense", draws.finished = false, draws.inverse_metrics = {{1, 2, 2, 5}, {3, 4, 4, 7}};
  write_netcdf(draws, path("fit.nc"));
  expect_same(read_draws({path("fit.nc")}), draws);
  draws.stats = {}, draws.step_sizes = {}, draws.inverse_metrics = {};
  write_netcdf(draws, path("fit.nc"));
  expect_same(read_draws({path("fit.nc")}), draws);
}

TEST_F(NetcdfFiles, NamesThatXarrayCannotHave) {
  Draws draws = example();
  draws.variables = {variable(draws, "a", {2, 2}, {"k", "k"}), variable(draws, "b", {3}, {"k"}),
                     variable(draws, "c", {2}, {"a"}), variable(draws, "d", {2}, {"draw"})};
  write_netcdf(draws, path("fit.nc"));
  const Draws back = read_draws({path("fit.nc")});
  expect_same_variables(back.variables, draws.variables);
  EXPECT_EQ(back.variables[0].dims, (std::vector<std::string>{"k", ""}));
  EXPECT_EQ(back.variables[1].dims, std::vector<std::string>{""});
  EXPECT_EQ(back.variables[2].dims, std::vector<std::string>{""});
  draws.variables[0].name = "a/b";
  expect_words(error_of([&] { write_netcdf(draws, path("fit.nc")); }),
               {"fit.nc: posterior/a/b", "libnetcdf says"});
  draws = full_example();
  draws.coordinates["school"].pop_back();
  expect_words(error_of([&] { write_netcdf(draws, path("fit.nc")); }, ErrorKind::bad_argument),
               {"coordinates of school: expected 3, got 2"});
}

TEST_F(NetcdfFiles, PythonOpensIt) {
  write_netcdf(full_example(), path("fit.nc"));
  if (!python("check", path("fit.nc"))) GTEST_SKIP() << "Python has no netCDF4";
}

TEST_F(NetcdfFiles, ReadsWhatArviZWrites) {
  if (!python("write", path("arviz.nc"))) GTEST_SKIP() << "Python has no netCDF4";
  const Draws draws = read_draws({path("arviz.nc")});
  EXPECT_EQ(draws.chains, 2);
  EXPECT_EQ(draws.draws, 4);
  EXPECT_EQ(draws.warmup, 500);
  EXPECT_EQ(draws.model, "schoöls");
  EXPECT_EQ(draws.seconds.sampling, 2.5);
  ASSERT_EQ(draws.variables.size(), 4u);
  EXPECT_EQ(draws.variables[0].name, "mu");
  EXPECT_EQ(draws.variables[0].values[7], 42 / 4.0);
  EXPECT_EQ(draws.variables[1].dims, std::vector<std::string>{""});
  EXPECT_EQ(draws.variables[2].dims, (std::vector<std::string>{"school", "year"}));
  EXPECT_EQ(draws.variables[2].shape, (Shape{3, 2}));
  EXPECT_EQ(draws.variables[2].values[47], 47);
  EXPECT_EQ(draws.variables[3].values[1], 6 * 0.5 + 10);
  EXPECT_EQ(draws.coordinates.at("school"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(draws.coordinates.at("year"), (std::vector<std::string>{"2001", "2002"}));
  EXPECT_EQ(draws.stats.divergent, (std::vector<double>{1, 0, 0, 1, 0, 0, 1, 0}));
  EXPECT_EQ(draws.stats.lp[3], -3);
  EXPECT_TRUE(draws.stats.energy.empty() && draws.step_sizes.empty());
  EXPECT_EQ(draws.observed.at(0).values, (std::vector<double>{1, 2, 3}));
}

TEST_F(NetcdfFiles, Errors) {
  write_netcdf(full_example(), path("fit.nc"));
  const Bytes whole = read_file({"test", "fit.nc"}, path("fit.nc"));
  for (const size_t length : {size_t{4}, size_t{100}, whole.size() / 2}) {
    write(folder_ / "cut.nc", Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)));
    expect_words(error_of([&] { read_draws({path("cut.nc")}); }), {"[read_draws] ", "cut.nc: "});
  }
  write_csv(example(), path("fit"));
  expect_words(error_of(
                   [&] {
                     read_draws({path("fit_1.csv"), path("fit.nc")});
                   },
                   ErrorKind::bad_argument),
               {"one netCDF file or CSV files alone"});
}

}  // namespace
}  // namespace adit::test
