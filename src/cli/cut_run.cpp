#include "cli/cut_run.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include <adit/checkpoint.hpp>
#include <adit/device.hpp>
#include <adit/sample.hpp>
#include <adit/tensor.hpp>

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
  const pid_t process = RunLock::holder(std::filesystem::path(path).parent_path());
  const std::string state =
      process > 0 ? fmt::format("is still going (process {}), so far", process) : "was cut short after";
  const char* rest = process > 0 ? "" : "; the command that made it, with --resume, goes on from there";
  if (draws.draws == 0)
    throw Error(ErrorKind::not_found,
                process > 0 ? fmt::format("{}: the run in {} {} without a draw", where, path, state)
                            : fmt::format("{}: the run in {} was cut short before its first draw{}", where,
                                          path, rest));
  print_err("The run in {} {} {} draws a chain{}.\n", path, state, draws.draws, rest);
  return draws;
}

}  // namespace adit::cli
