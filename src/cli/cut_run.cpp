#include "cli/cut_run.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include <adit/checkpoint.hpp>
#include <adit/device.hpp>
#include <adit/sample.hpp>
#include <adit/tensor.hpp>
#include <adit/text.hpp>

#include "cli/catalogue.hpp"
#include "cli/output.hpp"
#include "cli/run_lock.hpp"
#include "cli/run_origin.hpp"

namespace adit::cli {
namespace {

// Nothing here is long enough to be worth the start of a GPU.
void prefer_cpu() {
  for (const DeviceInfo& info : Device::list())
    if (info.id == "cpu") return set_default_device(Device::open("cpu"));
}

// Of the Stan program that the run names, or of this program's own.
Model model_again(const std::string& where, const std::string& path) {
  if (std::optional<Model> model =
          model_of_origin(fmt::format("{}: {}", where, path), origin_of_checkpoint(path)))
    return std::move(*model);
  const std::string name = model_of_checkpoint(path);
  const auto known = model_names();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error(
        ErrorKind::not_found,
        fmt::format("{}: expected a run of a model of this program in {}, got one of the model \"{}\"; the "
                    "program that has this model can go on with it",
                    where, path, name));
  return make_model(name);
}

}  // namespace

Draws read_cut_run(const std::string& where, const std::string& path) {
  prefer_cpu();
  Draws draws = draws_so_far(path, model_again(where, path), default_device());
  std::error_code ignored;
  const RunLock::Holder holder = RunLock::holder(std::filesystem::path(path).parent_path());
  // One that has not written yet may be another: it replaces this one once it has something to show.
  const bool goes = holder.process > 0 && std::filesystem::last_write_time(path, ignored) >= holder.since;
  const std::string state =
      goes ? fmt::format("is still going (process {}), so far", holder.process) : "was cut short after";
  const std::string rest = goes ? ""
                           : holder.process > 0
                               ? fmt::format("; process {} works in its folder", holder.process)
                               : "; the command that made it, with --resume, goes on from there";
  if (draws.draws == 0)
    throw Error(
        ErrorKind::not_found,
        goes ? fmt::format("{}: the run in {} {} without a draw", where, path, state)
             : fmt::format("{}: the run in {} was cut short before its first draw{}", where, path, rest));
  print_err("The run in {} {} {} draws a chain{}.\n", printable(path), state, draws.draws, rest);
  return draws;
}

}  // namespace adit::cli
