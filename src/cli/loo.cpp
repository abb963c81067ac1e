// adit loo, and LOO and WAIC where other commands show them.
#include "cli/loo.hpp"

#include <algorithm>
#include <fmt/format.h>

#include <adit/error.hpp>
#include <adit/text.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/saved_draws.hpp"

namespace adit::cli {

std::vector<Accuracy> accuracy_of(const Draws& draws) {
  std::vector<Accuracy> all;
  if (draws.draws == 0) return all;
  for (const DrawsVariable& variable : draws.log_likelihood) {
    if (variable.size() == 0) continue;
    Accuracy& one =
        all.emplace_back(Accuracy{variable.name, psis_loo(draws, variable), adit::waic(draws, variable), 0});
    one.worst_k = *std::max_element(one.loo.pareto_k.begin(), one.loo.pareto_k.end());
  }
  return all;
}

std::string format_accuracy(const std::vector<Accuracy>& all) {
  std::string text;
  for (const Accuracy& one : all) {
    const std::string name = printable(one.name);
    text += fmt::format("LOO  {}: elpd {:.2f}, p {:.2f}, se {:.2f}, worst Pareto k {:.2f}", name,
                        one.loo.elpd, one.loo.p_loo, one.loo.se, one.worst_k);
    if (one.loo.bad > 0)
      text += fmt::format(" ({} of {} above {:.2f}: not to be trusted there)", one.loo.bad,
                          one.loo.pareto_k.size(), one.loo.k_threshold);
    text += fmt::format("\nWAIC {}: elpd {:.2f}, p {:.2f}, se {:.2f}\n", name, one.waic.elpd, one.waic.p_waic,
                        one.waic.se);
  }
  return text;
}

nlohmann::ordered_json to_json(const std::vector<Accuracy>& all) {
  auto object = nlohmann::ordered_json::object();
  for (const Accuracy& one : all)
    object[printable(one.name)] = {
        {"elpd", one.loo.elpd},
        {"p", one.loo.p_loo},
        {"se", one.loo.se},
        {"worst_pareto_k", one.worst_k},
        {"k_threshold", one.loo.k_threshold},
        {"above_threshold", one.loo.bad},
        {"waic", {{"elpd", one.waic.elpd}, {"p", one.waic.p_waic}, {"se", one.waic.se}}}};
  return object;
}

int loo(bool json, const std::vector<std::string>& files) {
  const auto all = accuracy_of(read_saved("loo", "files", files));
  if (all.empty())
    throw Error(ErrorKind::not_found,
                fmt::format("[loo] files: expected log likelihoods in {}, got none; `adit sample "
                            "--log-likelihood` keeps them",
                            printable(fmt::format("{}", fmt::join(files, " ")))));
  if (json)
    print_json(to_json(all));
  else
    write_out(format_accuracy(all));
  return 0;
}

}  // namespace adit::cli
