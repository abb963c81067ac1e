#include "door/draws.hpp"

#include <fmt/format.h>

using namespace adit;
using door::expect;
using door::guarded;

namespace adit::door {

namespace {

adit_variable shown(const std::string& name, const Shape& shape, const std::vector<double>& values) {
  return {name.c_str(), static_cast<size_t>(shape.size()), shape.begin(), values.data(), values.size()};
}

std::vector<adit_variable> shown_all(const std::vector<DrawsVariable>& list) {
  std::vector<adit_variable> all;
  for (const DrawsVariable& it : list) all.push_back(shown(it.name, it.shape, it.values));
  return all;
}

std::vector<adit_variable> shown_stats(const SampleStats& s) {
  const auto column = [](const char* name, const std::vector<double>& values) {
    return adit_variable{name, 0, nullptr, values.data(), values.size()};
  };
  return {column("lp__", s.lp),
          column("accept_stat__", s.accept_stat),
          column("stepsize__", s.step_size),
          column("treedepth__", s.tree_depth),
          column("n_leapfrog__", s.n_leapfrog),
          column("divergent__", s.divergent),
          column("energy__", s.energy)};
}

std::vector<double> flat(const std::vector<std::vector<double>>& lists) {
  std::vector<double> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace

std::unique_ptr<adit_draws> draws_of(std::shared_ptr<const Draws> draws) {
  auto made = std::make_unique<adit_draws>();
  made->draws = std::move(draws);
  const Draws& d = *made->draws;
  made->groups["posterior"] = shown_all(d.variables);
  made->groups["sample_stats"] = shown_stats(d.stats);
  made->groups["log_likelihood"] = shown_all(d.log_likelihood);
  made->groups["posterior_predictive"] = shown_all(d.posterior_predictive);
  made->groups["warmup"] = shown_all(d.warmup_variables);
  for (const ObservedVariable& it : d.observed)
    made->groups["observed"].push_back(shown(it.name, it.shape, it.values));
  const Seconds& s = d.seconds;
  made->numbers["seconds"] = {s.open, s.compile, s.warmup, s.sampling, s.total};
  made->numbers["step_sizes"] = d.step_sizes;
  made->numbers["inverse_metrics"] = flat(d.inverse_metrics);
  made->numbers["divergences"] = {static_cast<double>(d.divergences())};
  made->numbers["warmup_divergences"] = {static_cast<double>(d.warmup_divergences)};
  made->numbers["leapfrogs"] = {static_cast<double>(d.leapfrogs)};
  made->numbers["energy_error"] = {d.energy_error};
  made->numbers["gradient_error"] = {d.gradient_error};
  made->numbers["energy_error_before"] = {d.energy_error_before};
  made->numbers["gradient_error_before"] = {d.gradient_error_before};
  return made;
}

namespace {

const Summary& summary_of(const adit_draws& draws) {
  if (!draws.summary) draws.summary = summary(*draws.draws);
  return *draws.summary;
}

}  // namespace

}  // namespace adit::door

adit_status adit_draws_read(size_t count, const char* const* paths, adit_draws** draws, adit_error** error) {
  return guarded(error, [&] {
    auto& place = expect("draws_read", "draws", draws);
    std::vector<std::string> list;
    for (const char* const path : door::expect_list("draws_read", "paths", paths, count))
      list.emplace_back(&expect("draws_read", "path", path));
    place = door::draws_of(std::make_shared<const Draws>(read_draws(list))).release();
  });
}
void adit_draws_free(adit_draws* draws) { delete draws; }

int64_t adit_draws_chains(const adit_draws* draws) { return draws ? draws->draws->chains : 0; }
int64_t adit_draws_draws(const adit_draws* draws) { return draws ? draws->draws->draws : 0; }
int adit_draws_finished(const adit_draws* draws) { return draws && draws->draws->finished; }

size_t adit_draws_variable_count(const adit_draws* draws, const char* group) {
  if (!draws || !group) return 0;
  const auto it = draws->groups.find(group);
  return it == draws->groups.end() ? 0 : it->second.size();
}
const adit_variable* adit_draws_variable(const adit_draws* draws, const char* group, size_t i) {
  return i < adit_draws_variable_count(draws, group) ? &draws->groups.find(group)->second[i] : nullptr;
}

adit_status adit_draws_summary(const adit_draws* draws, const adit_summary_row** rows, size_t* count,
                               adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "draws_summary";
    const adit_draws& d = expect(name, "draws", draws);
    auto& place = expect(name, "rows", rows);
    const std::lock_guard lock(d.mutex);
    const Summary& all = door::summary_of(d);
    if (d.rows.empty())
      for (const auto* part : {&all.stats, &all.parameters})
        for (const SummaryRow& r : *part)
          d.rows.push_back({r.name.c_str(), r.mean, r.mcse, r.sd, r.mad, r.q5, r.q50, r.q95, r.ess_bulk,
                            r.ess_tail, r.r_hat});
    expect(name, "count", count) = d.rows.size();
    place = d.rows.data();
  });
}

adit_status adit_draws_warnings(const adit_draws* draws, const char* const** texts, size_t* count,
                                adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "draws_warnings";
    const adit_draws& d = expect(name, "draws", draws);
    auto& place = expect(name, "warnings", texts);
    const std::lock_guard lock(d.mutex);
    if (!d.warnings) {
      d.warnings = warnings(*d.draws, door::summary_of(d));
      for (const std::string& text : *d.warnings) d.warning_texts.push_back(text.c_str());
    }
    expect(name, "count", count) = d.warning_texts.size();
    place = d.warning_texts.data();
  });
}

adit_status adit_draws_numbers(const adit_draws* draws, const char* name, const double** numbers,
                               size_t* count, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto f = "draws_numbers";
    const auto& all = expect(f, "draws", draws).numbers;
    const auto it = all.find(&expect(f, "name", name));
    if (it == all.end()) {
      std::string known;
      for (const auto& [other, list] : all) known += fmt::format("{}{}", known.empty() ? "" : ", ", other);
      throw Error(ErrorKind::not_found,
                  fmt::format("[{}] name: expected one of {}, got '{}'", f, known, name));
    }
    auto& place = expect(f, "numbers", numbers);
    expect(f, "count", count) = it->second.size();
    place = it->second.data();
  });
}

const char* adit_draws_text(const adit_draws* draws, const char* name) {
  if (!draws || !name) return nullptr;
  const Draws& d = *draws->draws;
  const std::string_view word = name;
  if (word == "device") return d.device.c_str();
  if (word == "precision") return d.precision.c_str();
  if (word == "layout") return d.layout.c_str();
  if (word == "model") return d.model.c_str();
  if (word == "metric") return d.metric.c_str();
  return nullptr;
}

adit_status adit_draws_write_report(const adit_draws* draws, const char* path, adit_error** error) {
  return guarded(error, [&] {
    write_report(*expect("draws_write_report", "draws", draws).draws,
                 &expect("draws_write_report", "path", path));
  });
}
adit_status adit_draws_write_csv(const adit_draws* draws, const char* stem, adit_error** error) {
  return guarded(error, [&] {
    write_csv(*expect("draws_write_csv", "draws", draws).draws, &expect("draws_write_csv", "stem", stem));
  });
}
adit_status adit_draws_write_netcdf(const adit_draws* draws, const char* path, adit_error** error) {
  return guarded(error, [&] {
    write_netcdf(*expect("draws_write_netcdf", "draws", draws).draws,
                 &expect("draws_write_netcdf", "path", path));
  });
}
