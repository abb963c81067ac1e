// Calls of CmdStan's programs as calls of `adit`:
//   adit model.stan sample num_samples=500 adapt delta=0.9 data file=x.json output file=out.csv
// is
//   adit sample model.stan --chains 1 --draws 500 --adapt-delta 0.9 --data x.json --output out --format csv
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace adit::cli {

// `words` are those after `adit`. Nothing where the first is no path that ends in .stan; else the words that
// `adit` is to be called with. Throws UsageError with the word.
//
// - CmdStan's defaults hold where they differ: one chain, and files as CSV. A seed that is left out, or -1,
// is
//   adit's own.
// - num_samples counts iterations, --draws what is kept of them: thin=2 halves it.
// - id numbers processes that share a seed: each gets a seed of its own (id - 1 in the upper 32 bits).
// - output file=dir/out.csv is the folder dir/out where draws of chains are made (sample,
//   generate_quantities): a run writes several files, named by the model and chain. Those of the chains are
//   to be where CmdStan puts them, too (cmdstan_file). Of the other methods it is the file.
// - refresh=0 is --quiet. Words that change no number are taken and do nothing: sig_figs, num_threads,
//   refresh, diagnostic_file, profile_file, save_metric, save_cmdstan_config, opencl, calculate_lp.
// - What would change the draws and is no option of adit is refused: engine=static, engaged=0, metric_file,
//   stepsize_jitter; variational and pathfinder as a whole.
// - Words from the first that begins with "-" are passed on as they are. They take the place of defaults; one
//   that says again what was said is refused.
//
// The methods become: sample, optimize, laplace, log-prob, generate and check-gradient (diagnose, which adit
// has for saved draws).
std::optional<std::vector<std::string>> from_cmdstan(const std::vector<std::string>& words);

// dir/out.csv of such a call, where chains of draws are to be as dir/out.csv too, or as dir/out_1.csv,
// dir/out_2.csv, ... where there are several; "" where it names no such file.
std::string cmdstan_file(const std::vector<std::string>& words);

}  // namespace adit::cli
