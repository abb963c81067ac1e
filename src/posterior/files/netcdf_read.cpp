// Draws from netCDF files of ours or of ArviZ.
#include <algorithm>
#include <cmath>
#include <optional>

#include <adit/system.hpp>
#include <adit/text.hpp>

#include "posterior/draws_bytes.hpp"
#include "posterior/files/check_sum.hpp"
#include "posterior/files/netcdf.hpp"
#include "posterior/files/netcdf_handle.hpp"
#include "support/apart.hpp"
#include "support/machine.hpp"

namespace adit::netcdf {
namespace {

struct Variable {
  int id = -1;
  std::string name;
  nc_type type = NC_NAT;
  std::vector<std::string> dims;
  std::vector<int64_t> lengths;
  bool is_number() const { return type != NC_CHAR && type != NC_STRING && type <= NC_MAX_ATOMIC_TYPE; }
  bool is_coordinate() const { return dims.size() == 1 && dims.front() == name; }
  bool is_draws() const { return dims.size() >= 2 && dims[0] == "chain" && dims[1] == "draw"; }
};

class ReadGroup {
 public:
  ReadGroup(const Place& place, int id) : place_(place), id_(id) {}
  static std::optional<ReadGroup> find(const Place& place, int file, const char* name) {
    int id = -1;
    if (nc_inq_grp_ncid(file, name, &id) != NC_NOERR) return std::nullopt;
    return ReadGroup(place.inside(name), id);
  }
  const Place& place() const { return place_; }
  std::vector<Variable> variables() const;
  std::vector<double> numbers(const Variable& variable) const;
  std::vector<std::string> words(const Variable& variable) const;
  std::string text(const char* attribute, const std::string& otherwise) const;
  double number(const char* attribute, double otherwise) const;
  uint64_t integer(const char* attribute, uint64_t otherwise) const;

 private:
  Variable variable(int id) const;
  void scale(const Variable& variable, std::vector<double>& values) const;
  bool has_number(int variable, const char* attribute) const;

  Place place_;
  int id_;
};

Variable ReadGroup::variable(int id) const {
  char name[NC_MAX_NAME + 1] = {};
  int rank = 0, dims[NC_MAX_VAR_DIMS] = {};
  Variable result{id, {}, NC_NAT, {}, {}};
  check(place_, nc_inq_var(id_, id, name, &result.type, &rank, dims, nullptr), "a variable");
  result.name = name;
  for (int axis = 0; axis < rank; axis++) {
    size_t length = 0;
    check(place_, nc_inq_dim(id_, dims[axis], name, &length), result.name);
    result.dims.emplace_back(name);
    result.lengths.push_back(static_cast<int64_t>(length));
  }
  return result;
}

std::vector<Variable> ReadGroup::variables() const {
  int count = 0;
  check(place_, nc_inq_nvars(id_, &count), "variables");
  std::vector<Variable> result;
  for (int id = 0; id < count; id++) result.push_back(variable(id));
  return result;
}

// Room for a variable's elements; a damaged file may ask for any number of them.
template <class Element>
std::vector<Element> room_for(const Place& place, const Variable& variable) {
  constexpr uint64_t most = uint64_t{1} << 59;
  uint64_t count = 1;
  for (const int64_t length : variable.lengths)
    count = length != 0 && count > most / static_cast<uint64_t>(length)
                ? most
                : count * static_cast<uint64_t>(length);
  try {
    return std::vector<Element>(count);
  } catch (const std::exception&) {  // bad_alloc or length_error
    throw Error(ErrorKind::out_of_memory,
                fmt::format("[{}] {}: {}: expected memory for {} elements, got none", place.function,
                            place.file, variable.name, count));
  }
}

std::vector<double> ReadGroup::numbers(const Variable& variable) const {
  std::vector<double> values = room_for<double>(place_, variable);
  if (!values.empty()) check(place_, nc_get_var_double(id_, variable.id, values.data()), variable.name);
  scale(variable, values);
  return values;
}

// Files may hold numbers in a packed form.
void ReadGroup::scale(const Variable& variable, std::vector<double>& values) const {
  double factor = 1, offset = 0;
  if (has_number(variable.id, "scale_factor"))
    check(place_, nc_get_att_double(id_, variable.id, "scale_factor", &factor), variable.name);
  if (has_number(variable.id, "add_offset"))
    check(place_, nc_get_att_double(id_, variable.id, "add_offset", &offset), variable.name);
  if (factor == 1 && offset == 0) return;
  for (double& value : values) value = value * factor + offset;
}

std::vector<std::string> ReadGroup::words(const Variable& variable) const {
  std::vector<std::string> result;
  if (variable.type != NC_STRING) {
    for (const double number : numbers(variable)) result.push_back(fmt::format("{}", number));
    return result;
  }
  std::vector<char*> pointers = room_for<char*>(place_, variable);
  if (pointers.empty()) return result;
  check(place_, nc_get_var_string(id_, variable.id, pointers.data()), variable.name);
  for (const char* word : pointers) result.emplace_back(word ? word : "");
  nc_free_string(pointers.size(), pointers.data());
  return result;
}

// Whether there is a number, and one alone.
bool ReadGroup::has_number(int variable, const char* attribute) const {
  nc_type type = NC_NAT;
  size_t count = 0;
  if (nc_inq_att(id_, variable, attribute, &type, &count) != NC_NOERR || count != 1) return false;
  return type != NC_CHAR && type != NC_STRING && type <= NC_MAX_ATOMIC_TYPE;
}

// netCDF has two kinds of text; xarray writes what is beyond ASCII as the second.
std::string ReadGroup::text(const char* attribute, const std::string& otherwise) const {
  nc_type type = NC_NAT;
  size_t count = 0;
  if (nc_inq_att(id_, NC_GLOBAL, attribute, &type, &count) != NC_NOERR) return otherwise;
  std::string result(type == NC_CHAR ? count : 0, ' ');
  if (type == NC_CHAR) {
    check(place_, nc_get_att_text(id_, NC_GLOBAL, attribute, result.data()), attribute);
  } else if (type == NC_STRING && count == 1) {
    char* word = nullptr;
    check(place_, nc_get_att_string(id_, NC_GLOBAL, attribute, &word), attribute);
    result = word ? word : "";
    nc_free_string(1, &word);
  } else {
    return otherwise;
  }
  return result;
}

double ReadGroup::number(const char* attribute, double otherwise) const {
  double result = otherwise;
  if (has_number(NC_GLOBAL, attribute))
    check(place_, nc_get_att_double(id_, NC_GLOBAL, attribute, &result), attribute);
  return result;
}

// Others may use the same word for something else, such as a negative number.
uint64_t ReadGroup::integer(const char* attribute, uint64_t otherwise) const {
  unsigned long long result = otherwise;
  const bool fits = has_number(NC_GLOBAL, attribute) &&
                    nc_get_att_ulonglong(id_, NC_GLOBAL, attribute, &result) == NC_NOERR;
  return fits ? result : otherwise;
}

void read_attributes(Draws& draws, const ReadGroup& from) {
  const auto whole = [&](const char* name, int64_t otherwise) {
    return static_cast<int64_t>(from.integer(name, static_cast<uint64_t>(otherwise)));
  };
  draws.model = from.text("model", from.text("model_name", ""));
  draws.seconds.sampling = from.number("sampling_time", 0);
  draws.seconds.open = from.number("open_time", 0);
  draws.seconds.compile = from.number("compile_time", 0);
  draws.seconds.warmup = from.number("warmup_time", 0);
  draws.seconds.total = from.number("total_time", draws.seconds.sampling);
  draws.warmup = whole("tuning_steps", 0);
  draws.seed = from.integer("seed", 0);
  draws.thin = whole("thin", 1);
  draws.max_depth = whole("max_depth", draws.max_depth);
  draws.adapt_delta = from.number("adapt_delta", draws.adapt_delta);
  draws.device = from.text("device", "");
  draws.precision = from.text("precision", draws.precision);
  draws.layout = from.text("layout", "");
  draws.energy_error = from.number("energy_error", 0);
  draws.gradient_error = from.number("gradient_error", 0);
  draws.energy_error_before = from.number("energy_error_before", NAN);
  draws.gradient_error_before = from.number("gradient_error_before", NAN);
  draws.wider = from.text("wider", draws.wider);
  for (size_t i = 1; !from.text(fmt::format("note_{}", i).c_str(), "").empty(); ++i)
    draws.notes.push_back(from.text(fmt::format("note_{}", i).c_str(), ""));
  draws.metric = from.text("metric", draws.metric);
  draws.inits = from.text("inits", draws.inits);
  draws.leapfrogs = from.integer("leapfrogs", 0);
  draws.warmup_divergences = from.integer("warmup_divergences", 0);
  draws.finished = from.integer("finished", 1) != 0;
}

// Names made up for axes without one are none.
std::vector<std::string> plate_names(const Variable& variable, size_t first) {
  std::vector<std::string> names(variable.dims.begin() + static_cast<ptrdiff_t>(first), variable.dims.end());
  for (std::string& name : names)
    if (name.starts_with(variable.name + "_dim_")) name.clear();
  return names;
}

Shape shape_from(const ReadGroup& group, const Variable& variable, size_t first) {
  if (variable.lengths.size() - first > static_cast<size_t>(max_rank))
    group.place().fail(fmt::format("{}: expected at most {} axes, got {}", variable.name, max_rank,
                                   variable.lengths.size() - first));
  return Shape(std::span(variable.lengths).subspan(first));
}

void check_extent(const Draws& draws, const ReadGroup& group, const Variable& variable) {
  if (variable.lengths[0] != draws.chains || variable.lengths[1] != draws.draws)
    group.place().fail(fmt::format("{}: expected {} chains of {} draws, got {} of {}", variable.name,
                                   draws.chains, draws.draws, variable.lengths[0], variable.lengths[1]));
}

// Coordinates that are not just 0, 1, 2, ...
void read_coordinate(Draws& draws, const ReadGroup& group, const Variable& variable) {
  if (variable.name == "chain" || variable.name == "draw") return;
  if (variable.type != NC_STRING) {
    if (!variable.is_number()) return;
    const std::vector<double> values = group.numbers(variable);
    bool counted = true;
    for (size_t i = 0; i < values.size(); i++) counted &= values[i] == static_cast<double>(i);
    if (counted) return;
  }
  draws.coordinates[variable.name] = group.words(variable);
}

void read_variables(Draws& draws, const ReadGroup& group, std::vector<DrawsVariable>& to) {
  for (const Variable& variable : group.variables()) {
    if (variable.is_coordinate()) {
      read_coordinate(draws, group, variable);
    } else if (variable.is_number() && variable.is_draws()) {
      if (draws.chains == 0) draws.chains = variable.lengths[0], draws.draws = variable.lengths[1];
      check_extent(draws, group, variable);
      to.push_back(
          {variable.name, shape_from(group, variable, 2), plate_names(variable, 2), group.numbers(variable)});
    } else if (variable.is_number() && std::ranges::count(variable.dims, "draw") > 0) {
      group.place().fail(fmt::format("{}: expected the dimensions chain and draw first, got {} first",
                                     variable.name, in_quotes(variable.dims.front())));
    }
  }
}

void read_adaptation(Draws& draws, const ReadGroup& group, const Variable& variable) {
  const bool by_chain = !variable.dims.empty() && variable.dims[0] == "chain" && !variable.is_draws() &&
                        variable.lengths[0] == draws.chains && variable.is_number();
  if (!by_chain) return;
  if (variable.name == "adapted_step_size" && variable.dims.size() == 1)
    draws.step_sizes = group.numbers(variable);
  if (variable.name != "inverse_metric") return;
  const std::vector<double> all = group.numbers(variable);
  const auto each = std::ssize(all) / draws.chains;
  for (int64_t chain = 0; chain < draws.chains; chain++)
    draws.inverse_metrics.emplace_back(all.begin() + chain * each, all.begin() + (chain + 1) * each);
}

void read_stats(Draws& draws, const ReadGroup& group) {
  for (const Variable& variable : group.variables()) {
    read_adaptation(draws, group, variable);
    if (!variable.is_draws() || variable.dims.size() != 2 || !variable.is_number()) continue;
    for (const StatName& stat : stat_names()) {
      std::vector<double>& to = draws.stats.*stat.member;
      if (!to.empty() || std::ranges::count(stat.names, variable.name) == 0) continue;
      check_extent(draws, group, variable);
      to = group.numbers(variable);
    }
  }
}

void read_observed(Draws& draws, const ReadGroup& group) {
  for (const Variable& variable : group.variables()) {
    if (variable.is_coordinate())
      read_coordinate(draws, group, variable);
    else if (variable.is_number())
      draws.observed.push_back(
          {variable.name, shape_from(group, variable, 0), plate_names(variable, 0), group.numbers(variable)});
  }
}

Draws parse(const Place& place, ByteSpan contents) {
  Handle file;
  // libnetcdf takes the memory without const, but opens it to read alone.
  auto* memory = const_cast<std::byte*>(contents.data());
  check(place, nc_open_mem(place.file.c_str(), NC_NOWRITE, contents.size(), memory, file.place_for_id()),
        "expected a netCDF file");
  const auto posterior = ReadGroup::find(place, file.id(), "posterior");
  if (!posterior) place.fail("expected the group posterior, got a netCDF file without it");
  Draws draws;
  read_variables(draws, *posterior, draws.variables);
  if (draws.variables.empty() || draws.chains * draws.draws == 0)
    posterior->place().fail("expected draws, got none");
  read_attributes(draws, *posterior);
  if (const auto group = ReadGroup::find(place, file.id(), "sample_stats")) read_stats(draws, *group);
  if (const auto group = ReadGroup::find(place, file.id(), "observed_data")) read_observed(draws, *group);
  if (const auto group = ReadGroup::find(place, file.id(), "log_likelihood"))
    read_variables(draws, *group, draws.log_likelihood);
  if (const auto group = ReadGroup::find(place, file.id(), "posterior_predictive"))
    read_variables(draws, *group, draws.posterior_predictive);
  return draws;
}

// What a sound file of that size needs by far.
ApartLimits limits_for(uint64_t size) {
  constexpr uint64_t gigabyte = uint64_t{1} << 30;
  constexpr uint64_t densest = 1100;  // deflate makes 1,032 bytes of one at most
  const double seconds = 5 + static_cast<double>(size) / 1e7;
  return {seconds, 30 + 4 * seconds, std::min(machine::memory_bytes(), gigabyte + densest * size)};
}

// The draws or an error, and a last byte that says which: 0, or 1 and the error's kind.
Bytes answer(const Place& place, ByteSpan contents) {
  const auto error = [](ErrorKind kind, const char* message) {
    Bytes bytes;
    append_text(bytes, message);
    bytes.push_back(static_cast<std::byte>(kind));
    bytes.push_back(std::byte{1});
    return bytes;
  };
  try {
    Bytes bytes = to_bytes(parse(place, contents));
    bytes.push_back(std::byte{0});
    return bytes;
  } catch (const Error& caught) {
    return error(caught.kind(), caught.what());
  } catch (const std::exception& caught) {
    const std::string text = fmt::format("[{}] {}: {}", place.function, place.file, caught.what());
    return error(ErrorKind::io, text.c_str());
  }
}

// libhdf5 crashes, or never ends, on some files that are damaged.
Draws parse_apart(const Place& place, ByteSpan contents) {
  const ApartResult result = run_apart(limits_for(contents.size()), [&] { return answer(place, contents); });
  ByteSpan bytes = result.bytes;
  if (!result.fault.empty() || bytes.empty())
    place.fail(fmt::format("expected a sound netCDF file, got one whose reading {}", result.fault));
  const bool is_error = bytes.back() != std::byte{0};
  bytes = bytes.first(bytes.size() - 1);
  if (!is_error) return draws_of(place, bytes);
  const auto kind = static_cast<ErrorKind>(bytes.back());
  throw Error(kind, {reinterpret_cast<const char*>(bytes.data()), bytes.size() - 1});
}

}  // namespace

Draws read(const std::string& path, const Bytes& contents) {
  const Place place{"read_draws", printable(path)};
  const Checked checked = check(contents);
  if (checked.sum == CheckSum::wrong)
    place.fail("expected the bytes that its check sum was made of, got others: the file is damaged");
  const auto alone = hold_library();
  return checked.sum == CheckSum::right ? parse(place, checked.file) : parse_apart(place, checked.file);
}

}  // namespace adit::netcdf

std::string adit::netcdf_name() {
  const std::string version = nc_inq_libvers();  // "4.9.0 of Aug  7 2022 ...", or what cmake/dist says
  return version.empty() ? version : "netCDF " + version.substr(0, version.find(' '));
}
