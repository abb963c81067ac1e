// The subcommands of `adit`. Each prints for people or, with json, one JSON document; each returns the exit
// status.
#pragma once

#include <string>

namespace adit::cli {

int devices(bool json, bool with_limits);
int doctor(bool json, const std::string& device_id, bool save);
int bench_device(bool json, const std::string& device_id);
int cache_show(bool json);
int cache_clear(bool json);
int ops(bool json);
int version(bool json);

}  // namespace adit::cli
