// The subcommands of `adit`. Each prints for people or, with json, one JSON document; each returns the exit
// status.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <adit/stan.hpp>

namespace adit::cli {

struct FitWords;
struct SampleWords;

int sample(SampleWords words);
// `files`: CSV files of CmdStan, a netCDF file, or the folder of a run.
int summary(bool json, const std::vector<std::string>& files, int64_t significant);
int diagnose(bool json, const std::vector<std::string>& files);
int loo(bool json, const std::vector<std::string>& files);
int html_report(bool json, const std::vector<std::string>& files, const std::string& output);
int optimize(FitWords words);
int laplace(FitWords words);
int log_prob(FitWords words);
int generate(FitWords words);
int check_gradient(FitWords words);  // exit status 1 where it is off
int explain(FitWords words);
int check(bool json, const std::string& path, const StanOptions& options);  // of a Stan program
int format(const std::string& path, const StanOptions& options);
int devices(bool json, bool with_limits);
int doctor(bool json, const std::string& device_id, bool save);
int bench_device(bool json, const std::string& device_id);
int cache_show(bool json);
int cache_clear(bool json);
int ops(bool json);
int version(bool json);

}  // namespace adit::cli
