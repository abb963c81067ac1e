// The HTML report: well-formed, escaped, self-contained, small, and honest about odd draws.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <set>
#include <sstream>
#include <unistd.h>

#include <adit/diagnostics.hpp>
#include <adit/error.hpp>

#include "posterior/report/plots.hpp"
#include "posterior/report/text.hpp"

namespace {

using namespace adit;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

// A posterior like that of eight schools: mu, tau and theta[n], a funnel. With `bad`, chains are slow and
// diverge in the neck.
Draws funnel(int64_t chains, int64_t draws, int64_t thetas, bool bad = false) {
  Draws out;
  out.model = "funnel";
  out.device = "cpu";
  out.chains = chains, out.draws = draws;
  out.seconds = {0.1, 0.2, 0.3, 0.4, 1.0};
  DrawsVariable mu{"mu", {}, {}, {}}, tau{"tau", {}, {}, {}}, theta{"theta", Shape{thetas}, {"school"}, {}};
  std::mt19937_64 source(11);
  std::normal_distribution<double> normal;
  for (int64_t c = 0; c < chains; ++c) {
    double log_tau = normal(source), energy = 10;
    for (int64_t i = 0; i < draws; ++i) {
      const double keep = bad ? 0.95 : 0.0;
      log_tau = keep * log_tau + std::sqrt(1 - keep * keep) * normal(source);
      energy = 10 + keep * (energy - 10) + normal(source);
      const double centre = 3 * normal(source);
      mu.values.push_back(centre);
      tau.values.push_back(std::exp(log_tau));
      for (int64_t t = 0; t < thetas; ++t)
        theta.values.push_back(centre + std::exp(log_tau) * normal(source));
      out.stats.lp.push_back(-energy);
      out.stats.energy.push_back(energy);
      out.stats.accept_stat.push_back(0.9);
      out.stats.step_size.push_back(0.5);
      out.stats.tree_depth.push_back(static_cast<double>(2 + i % 2));
      out.stats.n_leapfrog.push_back(7);
      out.stats.divergent.push_back(bad && log_tau < -1.2 ? 1 : 0);
    }
  }
  out.variables = {mu, tau, theta};
  return out;
}

void add(Draws& draws, const std::string& name, const std::function<double(int64_t)>& value) {
  DrawsVariable variable{name, {}, {}, {}};
  for (int64_t i = 0; i < draws.chains * draws.draws; ++i) variable.values.push_back(value(i));
  draws.variables.push_back(variable);
}

// A file of this test's own.
std::filesystem::path own_path() {
  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  return std::filesystem::temp_directory_path() /
         ("adit_report_" + name + "_" + std::to_string(::getpid()) + ".html");
}

std::string written(const Draws& draws) {
  const auto path = own_path();
  write_report(draws, path.string());
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

size_t occurrences(const std::string& text, const std::string& part) {
  size_t times = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++times;
  return times;
}

bool entities_are_known(const std::string& text) {
  for (size_t at = 0; (at = text.find('&', at)) != std::string::npos; ++at) {
    const std::string entity = text.substr(at, text.find(';', at) - at + 1);
    if (!std::set<std::string>{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}.contains(entity)) return false;
  }
  return text.find('>') == std::string::npos && text.find('"') == std::string::npos;
}

// What is wrong with a piece of XML; empty where nothing is. Knows elements, attributes and text.
std::string xml_fault(const std::string& xml) {
  std::vector<std::string> open;
  size_t at = 0;
  while (at < xml.size()) {
    const size_t start = xml.find('<', at);
    if (!entities_are_known(xml.substr(at, start - at))) return "text: " + xml.substr(at, start - at);
    if (start == std::string::npos) break;
    const size_t end = xml.find('>', start);
    if (end == std::string::npos) return "no end of " + xml.substr(start, 40);
    std::string tag = xml.substr(start + 1, end - start - 1);
    at = end + 1;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "unmatched " + tag;
      open.pop_back();
      continue;
    }
    const bool closed = tag.back() == '/';
    if (closed) tag.pop_back();
    std::istringstream words(tag);
    std::string name, attribute;
    words >> name;
    while (words >> std::ws && std::getline(words, attribute, '=')) {
      std::string value;
      if (words.get() != '"' || !std::getline(words, value, '"')) return "attribute in " + tag;
      std::string lower = value;
      for (char& letter : lower) letter = static_cast<char>(std::tolower(letter));
      if (attribute != "aria-label" && (lower.find("nan") != std::string::npos || lower.find("inf") == 0))
        return "number in " + tag;
      if (!entities_are_known(value)) return "value in " + tag;
    }
    if (!closed) open.push_back(name);
  }
  return open.empty() ? "" : "open " + open.back();
}

// Every image is well-formed, and nothing outside the file is asked for.
void expect_sound(const std::string& page) {
  size_t images = 0;
  for (size_t at = 0; (at = page.find("<svg", at)) != std::string::npos; ++images) {
    const size_t end = page.find("</svg>", at);
    ASSERT_NE(end, std::string::npos);
    const std::string fault = xml_fault(page.substr(at, end + 6 - at));
    EXPECT_EQ(fault, "") << page.substr(at, 200);
    at = end;
  }
  EXPECT_EQ(images, occurrences(page, "</svg>"));
  for (const char* reference : {"http:", "https:", "src=", "url(", "@import", "<link", "xlink", "<iframe"})
    EXPECT_EQ(page.find(reference), std::string::npos) << reference;
  for (const char* tag :
       {"figure", "section", "table", "div", "article", "p", "dl", "main", "body", "html", "h3"})
    EXPECT_EQ(
        occurrences(page, "<" + std::string(tag) + " ") + occurrences(page, "<" + std::string(tag) + ">"),
        occurrences(page, "</" + std::string(tag) + ">"))
        << tag;
}

TEST(Report, CheckerFindsFaults) {
  EXPECT_EQ(xml_fault("<svg a=\"1\"><path d=\"M1 2\"/><text>a &lt; b</text></svg>"), "");
  EXPECT_NE(xml_fault("<svg><text>a & b</text></svg>"), "");
  EXPECT_NE(xml_fault("<svg><text></svg>"), "");
  EXPECT_NE(xml_fault("<svg a=1></svg>"), "");
  EXPECT_NE(xml_fault("<svg><path d=\"Mnan 2\"/></svg>"), "");
}

TEST(Report, HoldsEverySection) {
  const std::string page = written(funnel(4, 200, 3));
  expect_sound(page);
  for (const char* id : {"run", "summary", "intervals", "parameters", "pairs", "sampler"})
    EXPECT_EQ(occurrences(page, "<section id=\"" + std::string(id) + "\""), 1u) << id;
  EXPECT_EQ(occurrences(page, "<article"), 5u);  // mu, tau, theta[1..3]
  for (const char* plot : {"Trace of ", "Rank histograms of ", "Histogram of ", "Autocorrelation of "})
    EXPECT_EQ(occurrences(page, "aria-label=\"" + std::string(plot)), 5u) << plot;
  for (const char* words : {"Pair plot", "Energy: ", "E-BFMI", "ESS_bulk/s", "R_hat", "theta[3]", "94 % HDI"})
    EXPECT_NE(page.find(words), std::string::npos) << words;
  EXPECT_EQ(page.find("<section id=\"predictive\""), std::string::npos);
}

TEST(Report, SaysWhatIsWrongFirst) {
  const std::string good = written(funnel(4, 1000, 1));
  EXPECT_EQ(occurrences(good, "class=\"note good\""), 1u);
  EXPECT_EQ(occurrences(good, "class=\"note bad\""), 0u);
  const Draws draws = funnel(4, 200, 3, true);
  const std::string bad = written(draws);
  expect_sound(bad);
  EXPECT_EQ(occurrences(bad, "class=\"note good\""), 0u);
  const auto found = warnings(draws, summary(draws));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(occurrences(bad, "class=\"note bad\""), found.size());
  for (const auto& warning : found)
    EXPECT_NE(bad.find(report::escape(warning)), std::string::npos) << warning;
  EXPECT_LT(bad.find("class=\"note bad\""), bad.find("id=\"run\""));
  EXPECT_NE(bad.find("class=\"points bad\""), std::string::npos);
  EXPECT_NE(bad.find("class=\"divergence\""), std::string::npos);
  Draws stopped = funnel(2, 50, 1);
  stopped.finished = false;
  EXPECT_NE(written(stopped).find("stopped before"), std::string::npos);
}

TEST(Report, EscapesNames) {
  const std::string hostile = "<script>alert('x')</script>&\"";
  Draws draws = funnel(2, 60, 1);
  draws.model = draws.device = hostile;
  draws.variables[0].name = hostile;
  draws.variables[1].name = "bytes\xFF\x01 of no text";
  draws.observed = {{hostile, Shape{2}, {}, {1, 2}}};
  DrawsVariable replicated{hostile, Shape{2}, {}, {}};
  for (int i = 0; i < 2 * 60 * 2; ++i) replicated.values.push_back(0.37 * i);
  draws.posterior_predictive = {replicated};
  const std::string page = written(draws);
  expect_sound(page);
  EXPECT_EQ(occurrences(page, "<script"), 1u);  // the filter's
  EXPECT_EQ(page.find("alert('x')"), std::string::npos);
  EXPECT_GT(occurrences(page, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;"), 5u);
  EXPECT_EQ(page.find('\xFF'), std::string::npos);
  EXPECT_EQ(page.find('\x01'), std::string::npos);
  EXPECT_EQ(report::escape("\xC3\xA9\xE2\x82\xAC"), "\xC3\xA9\xE2\x82\xAC");
  EXPECT_EQ(report::escape("\xED\xA0\x80").find('\xED'), std::string::npos);
}

TEST(Report, PlatesAreShownByTheirLabels) {
  Draws draws = funnel(4, 200, 3);
  draws.coordinates["school"] = {"north & south", "Łódź", "<west>"};
  const std::string page = written(draws);
  expect_sound(page);
  for (const char* label : {"theta[north &amp; south]", "theta[Łódź]", "theta[&lt;west&gt;]"}) {
    EXPECT_NE(page.find("<tr><th>" + std::string(label) + "</th>"), std::string::npos) << label;
    EXPECT_NE(page.find("aria-label=\"Trace of " + std::string(label)), std::string::npos) << label;
  }
  EXPECT_EQ(page.find("theta[1]"), std::string::npos);
}

TEST(Report, StaysSmall) {
  constexpr size_t limit = 3000000;
  const std::string long_chains = written(funnel(4, 12000, 28));
  EXPECT_LT(long_chains.size(), limit);
  const std::string many = written(funnel(1024, 12, 230, true));
  expect_sound(many);
  EXPECT_LT(many.size(), limit);
  EXPECT_EQ(occurrences(many, "<article"), 24u);
  EXPECT_NE(many.find("24 of 232 elements"), std::string::npos);
  EXPECT_NE(many.find("theta[230]"), std::string::npos);  // in the table and among the intervals
  EXPECT_NE(many.find("1,024 chains"), std::string::npos);
}

TEST(Report, TakesOddDraws) {
  Draws draws = funnel(3, 100, 2);
  add(draws, "constant", [](int64_t) { return 1.0 / 3; });
  add(draws, "missing", [](int64_t) { return nan_value; });
  add(draws, "partly", [](int64_t i) { return i % 7 == 3 ? nan_value : std::sin(static_cast<double>(i)); });
  add(draws, "infinite", [](int64_t i) {
    return i == 5 ? std::numeric_limits<double>::infinity() : std::cos(static_cast<double>(i));
  });
  add(draws, "huge", [](int64_t i) { return (i % 2 ? 1 : -1) * 1e308; });
  add(draws, "stuck", [](int64_t i) { return static_cast<double>(i / 100); });
  add(draws, "shifted", [](int64_t i) { return 1e9 + 1e-3 * std::sin(static_cast<double>(i)); });
  const std::string page = written(draws);
  expect_sound(page);
  EXPECT_EQ(page.find("aria-label=\"Trace of constant\""), std::string::npos);
  EXPECT_EQ(page.find("aria-label=\"Trace of missing\""), std::string::npos);
  EXPECT_NE(page.find("aria-label=\"Trace of partly\""), std::string::npos);
  EXPECT_NE(page.find("3 elements do not vary"), std::string::npos);
  EXPECT_NE(page.find("43 draws are not finite"), std::string::npos);
}

TEST(Report, TakesFewDraws) {
  for (const auto& [chains, draws] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 2}, {1, 5}, {2, 1}, {9, 3}, {1, 300}})
    expect_sound(written(funnel(chains, draws, 1)));
  Draws bare = funnel(2, 30, 1);
  bare.stats = {};
  const std::string page = written(bare);
  expect_sound(page);
  EXPECT_EQ(page.find("<section id=\"sampler\""), std::string::npos);
  const std::string empty = written(funnel(0, 0, 1));
  expect_sound(empty);
  EXPECT_NE(empty.find("no draws"), std::string::npos);
}

TEST(Report, ChecksPredictions) {
  Draws draws = funnel(2, 100, 1);
  std::mt19937_64 source(3);
  std::normal_distribution<double> normal;
  ObservedVariable observed{"y", Shape{30}, {}, {}}, counts{"n", Shape{30}, {}, {}};
  DrawsVariable replicated{"y", Shape{30}, {}, {}}, replicated_counts{"n", Shape{30}, {}, {}};
  for (int i = 0; i < 30; ++i) {
    observed.values.push_back(50 + normal(source));
    counts.values.push_back(i % 5);
  }
  for (int i = 0; i < 200 * 30; ++i) {
    replicated.values.push_back(normal(source));
    replicated_counts.values.push_back((i * 7) % 5);
  }
  draws.posterior_predictive = {replicated, replicated_counts};
  EXPECT_EQ(written(draws).find("<section id=\"predictive\""), std::string::npos);
  draws.observed = {observed, counts};
  const std::string page = written(draws);
  expect_sound(page);
  EXPECT_NE(page.find("<section id=\"predictive\""), std::string::npos);
  EXPECT_NE(page.find("Densities of y"), std::string::npos);
  EXPECT_NE(page.find("Counts of n"), std::string::npos);
  // The replicated y lie far below: none of their means is above.
  EXPECT_NE(page.find("<td class=\"warn\">0 %</td>"), std::string::npos);
}

TEST(Report, RefusesWhatCannotWork) {
  const Draws draws = funnel(1, 10, 1);
  std::ofstream(own_path()) << "a file";
  const std::string path = own_path().string() + "/report.html";  // nothing can lie below a file
  try {
    write_report(draws, path);
    FAIL() << "wrote " << path;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
  }
  std::filesystem::remove(own_path());
  Draws wrong = draws;
  wrong.variables[0].values.pop_back();
  try {
    written(wrong);
    FAIL() << "took a variable of the wrong length";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
  }
}

TEST(Report, TicksAreRound) {
  for (const report::Range range : {report::Range{0, 1},
                                    {-3.7, 12.2},
                                    {1e9 + 0.1, 1e9 + 0.3},
                                    {-2e-7, 5e-7},
                                    {-1e149, 1e148},
                                    {999, 1001}})
    for (const int most : {2, 5, 8}) {
      const auto ticks = report::round_ticks(range, most);
      EXPECT_LE(ticks.size(), static_cast<size_t>(most) + 1);
      EXPECT_FALSE(most == 8 && ticks.size() < 3);
      std::set<std::string> labels;
      for (size_t i = 0; i < ticks.size(); ++i) {
        EXPECT_GE(ticks[i].value, range.low - 1e-6 * range.width());
        EXPECT_LE(ticks[i].value, range.high + 1e-6 * range.width());
        EXPECT_TRUE(labels.insert(ticks[i].label).second) << ticks[i].label;
      }
    }
  const auto ticks = report::round_ticks({-0.1, 1.02}, 5);
  ASSERT_EQ(ticks.size(), 3u);
  EXPECT_EQ(ticks[1].label, "0.5");
  EXPECT_EQ(report::number(-1234.5), "-1234");
  EXPECT_EQ(report::number(0.012345), "0.0123");
  EXPECT_EQ(report::count(1234567), "1,234,567");
  EXPECT_EQ(report::shorten("abcdefgh", 5), "ab…gh");
  EXPECT_EQ(report::shorten("äöüßéèêë", 5), "äö…êë");
  EXPECT_EQ(report::shorten("日本語の長い名前", 4), "日本…前");
}

TEST(Report, DensitiesIntegrateToOne) {
  std::mt19937_64 source(5);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  for (int i = 0; i < 2000; ++i) values.push_back(std::exp(normal(source)));
  std::sort(values.begin(), values.end());
  const report::Range range{values.front(), values.back()};
  double sum = 0;
  const auto curve = report::smooth_density(values, range, 500);
  for (const double height : curve) sum += height * range.width() / 499;
  EXPECT_NEAR(sum, 1, 0.01);
  const auto bars = report::histogram(values, range, 37);
  sum = 0;
  for (const double height : bars.density) sum += height * bars.bin_width();
  EXPECT_NEAR(sum, 1, 1e-9);
  // The standard normal's density at 0.
  for (double& value : values) value = std::log(value);
  EXPECT_NEAR(report::smooth_density(values, {-4, 4}, 201)[100], 0.399, 0.04);
}

TEST(Report, PairsShowTheFunnel) {
  Draws draws = funnel(4, 500, 1);
  draws.variables.erase(draws.variables.begin());
  std::mt19937_64 source(9);
  std::normal_distribution<double> normal;
  for (const char* name : {"a", "b", "c"}) add(draws, name, [&](int64_t) { return normal(source); });
  const auto tau = draws.variables[0].values;
  add(draws, "log_tau", [&](int64_t i) { return std::log(tau[static_cast<size_t>(i)]); });
  const report::Material material = report::collect(draws);
  const auto chosen = report::telling_elements(material, 2);
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(chosen[0]->name(), "tau");
  EXPECT_EQ(chosen[1]->name(), "theta[1]");  // and not log_tau, which is tau again
}

}  // namespace
