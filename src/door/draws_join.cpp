#include "door/draws_join.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "door/draws.hpp"
#include "posterior/check.hpp"
#include "posterior/draws_bytes.hpp"

namespace adit::door {

namespace {

using Parts = std::span<const Draws* const>;

// Rows of all parts, of each chain the first `rows` of its own `of(part)`, `width` numbers each.
struct Rows {
  Parts parts;
  int64_t Draws::*own;
  int64_t rows;

  template <class Values>
  std::vector<double> joined(const char* what, int64_t width, Values&& values_of) const {
    std::vector<double> all;
    for (const Draws* part : parts) {
      const std::vector<double>& values = values_of(*part);
      const int64_t a_chain = part->*own * width;
      if (std::ssize(values) != a_chain * part->chains)
        fail("draws_join", what,
             fmt::format("expected {} numbers in a part, got {}", a_chain * part->chains, values.size()));
      for (int64_t chain = 0; chain < part->chains; ++chain) {
        const auto first = values.begin() + chain * a_chain;
        all.insert(all.end(), first, first + rows * width);
      }
    }
    return all;
  }

  std::vector<DrawsVariable> joined(std::vector<DrawsVariable> Draws::*group) const {
    std::vector<DrawsVariable> all;
    const auto& first = parts[0]->*group;
    for (const Draws* part : parts)
      if ((part->*group).size() != first.size())
        fail("draws_join", "parts", "expected the same variables in all of them");
    for (size_t i = 0; i < first.size(); ++i) {
      DrawsVariable variable{first[i].name, first[i].shape, first[i].dims, {}};
      for (const Draws* part : parts) {
        const DrawsVariable& other = (part->*group)[i];
        if (other.name != variable.name || other.shape != variable.shape)
          fail("draws_join", "parts",
               fmt::format("expected {} of shape {} in all of them, got {} of shape {}", variable.name,
                           to_string(variable.shape), other.name, to_string(other.shape)));
      }
      variable.values = joined(
          variable.name.c_str(),
          variable.size(), [&](const Draws& part) -> auto& { return (part.*group)[i].values; });
      all.push_back(std::move(variable));
    }
    return all;
  }

  SampleStats joined(SampleStats Draws::*stats) const {
    SampleStats all;
    for (const auto column :
         {&SampleStats::lp, &SampleStats::accept_stat, &SampleStats::step_size, &SampleStats::tree_depth,
          &SampleStats::n_leapfrog, &SampleStats::divergent, &SampleStats::energy}) {
      const auto none = [&](const Draws* part) { return (part->*stats.*column).empty(); };
      if (std::all_of(parts.begin(), parts.end(), none)) continue;
      all.*column = joined(
          "sample_stats", 1, [&](const Draws& part) -> auto& { return part.*stats.*column; });
    }
    return all;
  }
};

template <class T>
void expect_same(Parts parts, const char* what, T Draws::*member) {
  for (const Draws* part : parts)
    if (part->*member != parts[0]->*member)
      fail("draws_join", what,
           fmt::format("expected the same in all parts, got {} and {}", parts[0]->*member, part->*member));
}

}  // namespace

Draws join(Parts parts) {
  if (parts.empty()) fail("draws_join", "parts", "expected at least one, got none");
  expect_same(parts, "model", &Draws::model);
  expect_same(parts, "seed", &Draws::seed);
  expect_same(parts, "warmup", &Draws::warmup);
  expect_same(parts, "thin", &Draws::thin);
  expect_same(parts, "precision", &Draws::precision);
  expect_same(parts, "layout", &Draws::layout);
  expect_same(parts, "metric", &Draws::metric);

  // All that is said of the run, without its numbers.
  const Draws& first = *parts[0];
  Draws all;
  all.model = first.model;
  all.warmup = first.warmup;
  all.thin = first.thin;
  all.max_depth = first.max_depth;
  all.seed = first.seed;
  all.adapt_delta = first.adapt_delta;
  all.device = first.device;
  all.precision = first.precision;
  all.metric = first.metric;
  all.layout = first.layout;
  all.inits = first.inits;
  all.observed = first.observed;
  all.coordinates = first.coordinates;
  all.draws = first.draws;
  all.warmup_draws = first.warmup_draws;
  for (const Draws* part : parts) {
    all.chains += part->chains;
    all.draws = std::min(all.draws, part->draws);
    all.warmup_draws = std::min(all.warmup_draws, part->warmup_draws);
    all.step_sizes.insert(all.step_sizes.end(), part->step_sizes.begin(), part->step_sizes.end());
    all.inverse_metrics.insert(all.inverse_metrics.end(), part->inverse_metrics.begin(),
                               part->inverse_metrics.end());
    all.leapfrogs += part->leapfrogs;
    all.warmup_divergences += part->warmup_divergences;
    if (part->energy_error >= all.energy_error) all.wider = part->wider;
    for (const auto error : {&Draws::energy_error, &Draws::gradient_error, &Draws::energy_error_before,
                             &Draws::gradient_error_before})
      all.*error = std::fmax(all.*error, part->*error);  // NaN where nobody looked
    all.finished = all.finished && part->finished;
    // They ran side by side: what the slowest took.
    for (const auto second :
         {&Seconds::open, &Seconds::compile, &Seconds::warmup, &Seconds::sampling, &Seconds::total})
      all.seconds.*second = std::max(all.seconds.*second, part->seconds.*second);
    for (const std::string& note : part->notes)
      if (std::find(all.notes.begin(), all.notes.end(), note) == all.notes.end()) all.notes.push_back(note);
  }
  const Rows rows{parts, &Draws::draws, all.draws};
  all.variables = rows.joined(&Draws::variables);
  all.stats = rows.joined(&Draws::stats);
  all.log_likelihood = rows.joined(&Draws::log_likelihood);
  all.posterior_predictive = rows.joined(&Draws::posterior_predictive);
  const Rows warmup{parts, &Draws::warmup_draws, all.warmup_draws};
  all.warmup_variables = warmup.joined(&Draws::warmup_variables);
  all.warmup_stats = warmup.joined(&Draws::warmup_stats);
  return all;
}

}  // namespace adit::door

using namespace adit;
using door::expect;
using door::guarded;

adit_status adit_draws_join(size_t count, const adit_draws* const* parts, adit_draws** joined,
                            adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "draws_join";
    auto& place = expect(name, "joined", joined);
    std::vector<const Draws*> list;
    for (const adit_draws* const part : door::expect_list(name, "parts", parts, count))
      list.push_back(expect(name, "part", part).draws.get());
    place = door::draws_of(std::make_shared<const Draws>(door::join(list))).release();
  });
}

adit_status adit_draws_to_bytes(const adit_draws* draws, char** bytes, size_t* size, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "draws_to_bytes";
    auto& place = expect(name, "bytes", bytes);
    auto& length = expect(name, "size", size);
    const Bytes made = to_bytes(*expect(name, "draws", draws).draws);
    place = door::text_of({reinterpret_cast<const char*>(made.data()), made.size()});
    length = made.size();
  });
}

adit_status adit_draws_from_bytes(const void* bytes, size_t size, adit_draws** draws, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "draws_from_bytes";
    auto& place = expect(name, "draws", draws);
    const auto given = door::expect_list(name, "bytes", static_cast<const std::byte*>(bytes), size);
    auto read = std::make_shared<const Draws>(draws_of({name, "bytes"}, given));
    check_draws(name, *read);
    place = door::draws_of(std::move(read)).release();
  });
}
