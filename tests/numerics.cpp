// Writes docs/numerics.md: what each math function promises and what was measured.
//
// - numerics --output docs/numerics.md: on every device present, against MPFR. Tables of other machines stay.
// - numerics --exhaustive all|FUNCTION [--device ID]: all 2^32 floats, kept in docs/numerics.record.
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <utility>

#include "exhaustive.hpp"
#include "math_measure.hpp"

namespace adit::test {
namespace {

struct Options {
  std::string output, exhaustive, device = "cpu", record = "docs/numerics.record";
  size_t samples = 100000, samples_on_software = 5000;
};

Options parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    std::string word = words[i];
    auto value = [&]() -> std::string {
      if (i + 1 < count) return words[++i];
      throw Error(ErrorKind::bad_argument, "[numerics] " + word + ": expected a value, got nothing");
    };
    if (word == "--output")
      options.output = value();
    else if (word == "--exhaustive")
      options.exhaustive = value();
    else if (word == "--device")
      options.device = value();
    else if (word == "--record")
      options.record = value();
    else if (word == "--samples")
      options.samples = std::stoul(value());
    else if (word == "--samples-on-software")
      options.samples_on_software = std::stoul(value());
    else
      throw Error(ErrorKind::bad_argument,
                  "[numerics] option: expected --output, --exhaustive, --device, --record, --samples or "
                  "--samples-on-software, got " +
                      word);
  }
  return options;
}

// False where a function exceeds its bound.
bool run_exhaustively(const Options& options) {
  auto device = Device::open(options.device);
  bool any = false, good = true;
  for (const MathFunction& function : math_functions()) {
    if (options.exhaustive != "all" && options.exhaustive != function.name) continue;
    if (!double_reference(function.name)) continue;
    any = true;
    Exhausted row = exhaust(*device, function);
    std::vector<Exhausted> rows = read_record(options.record);
    std::erase_if(
        rows, [&](const Exhausted& old) { return old.function == row.function && old.device == row.device; });
    rows.push_back(row);
    write_record(options.record, rows);
    std::cout << fmt::format("| {} | {:.3f} | {:.9g} | {} |", row.function, row.ulp, row.x, row.misrounded)
              << std::endl;
    if (row.ulp <= function.bound_f32) continue;
    std::cout << "  above its bound of " << function.bound_f32 << std::endl;
    good = false;
  }
  if (!any)
    throw Error(
        ErrorKind::not_found,
        "[numerics] --exhaustive: expected all or a function of one number, got " + options.exhaustive);
  return good;
}

const char* introduction = R"(# Numerics

This page is written by `numerics --output docs/numerics.md`; do not edit it.

Every function of `adit/kernel/math.hpp` is our own, in f32 and f64, the same on every device. The error is
|computed - exact| in units in the last place (ULP) of the exact result; below the smallest normal number the unit
stays that of the smallest one. A correctly rounded result has an error of at most 0.5. `tests/math_test.cpp` holds
the bounds on every device present, over all bit patterns, with the special values (zeros and their signs,
subnormals, infinities, NaN, poles) compared exactly.

- An overflow counts as 2^128 (f32) or 2^1024 (f64), so a result at the end of the range may be off by its bound.
- A device that flushes subnormal f32 numbers (see `adit doctor`) may take and yield them as 0, and may be less sharp
  where the result is below 2^-100.
- lgamma and digamma have a zero between any two poles on the negative axis, where their reflections subtract nearly
  equal terms. There the unit is that of the larger term: |lgamma(-x)|, and log(1 - x), each at least 1/2. Their positive
  zeros (1, 2 and 1.4616...) are as sharp as the bound says.
- Functions named `_loose` are those of kernels that are written under a `Loose` (`kernel/builder.hpp`), as samplers are:
  fewer instructions for at most 2 ULP more. In f64 what is below 2^-1021 may count as 0 there. Of lgamma and digamma
  there, which densities add up, the unit is at least that of 2 and of 1: about their positive zeros they are that sharp.
)";

template <class T>
std::string columns(const MathFunction& function, const std::shared_ptr<Device>& device,
                    const Options& options) {
  if (sizeof(T) == 8 && !device->limits().float64) return "- | ";
  Measurement worst = measure<T>(function, {&device, 1}, options.samples, options.samples_on_software)[0];
  if (worst.ulp == 0) return "0 | ";
  std::string at = fmt::format("{}", static_cast<T>(worst.x));
  if (function.second != Second::none) at += fmt::format(", {}", static_cast<T>(worst.y));
  return fmt::format("{:.3f} | {}", worst.ulp, at);
}

// The page's sections by their titles.
using Sections = std::vector<std::pair<std::string, std::string>>;

// Sections of machines that are not this one stay as they are.
Sections read_sections(const std::string& path) {
  Sections sections;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("## "))
      sections.emplace_back(line, "");
    else if (!sections.empty())
      sections.back().second += line + "\n";
  return sections;
}

void put(Sections& sections, const std::string& title, const std::string& text) {
  for (auto& [old_title, old_text] : sections)
    if (old_title == title) {
      old_text = text;
      return;
    }
  sections.emplace_back(title, text);
}

std::string device_section(const std::shared_ptr<Device>& device, const Options& options) {
  const DeviceInfo& info = device->info();
  size_t samples = info.kind == DeviceKind::software ? options.samples_on_software : options.samples;
  std::string text = fmt::format(
      "\nDevice `{}`, {}. Largest error over {} samples a function, against MPFR at 128 bits.\n\n"
      "| function | f32 bound | f32 measured | at | f64 bound | f64 measured | at |\n"
      "|---|---|---|---|---|---|---|\n",
      info.id, info.driver, samples);
  for (const MathFunction& function : math_functions()) {
    std::cerr << info.id << " " << function.name << "\n";
    text += fmt::format("| {} | {:g} | {} | {:g} | {} |\n", function.name, function.bound_f32,
                        columns<float>(function, device, options), function.bound_f64,
                        columns<double>(function, device, options));
  }
  return text + "\n";
}

std::string exhausted_section(const std::vector<Exhausted>& rows) {
  std::string text =
      "\nf32 functions of one number on all 2^32 inputs, against the C library's double "
      "functions\n"
      "(digamma, trigamma and erf_inv: Boost.Math; rsqrt, sigmoid, softplus and log_sigmoid: their "
      "definitions in "
      "double).\n\n"
      "| function | device | bound | largest error | at | not correctly rounded "
      "|\n|---|---|---|---|---|---|\n";
  for (const Exhausted& row : rows)
    for (const MathFunction& function : math_functions())
      if (function.name == row.function)
        text += fmt::format("| {} | {} | {:g} | {:.3f} | {} | {:.4f} % |\n", row.function, row.device,
                            function.bound_f32, row.ulp, row.x,
                            100 * static_cast<double>(row.misrounded) / 0x1p32);
  return text + "\n";
}

void write_page(const Options& options) {
  Sections sections = read_sections(options.output);
  for (const auto& device : test_devices())
    put(sections, "## " + device->info().name, device_section(device, options));
  const std::string all_floats = "## All floats";
  std::erase_if(sections, [&](const auto& section) { return section.first == all_floats; });
  std::vector<Exhausted> rows = read_record(options.record);
  if (!rows.empty()) sections.emplace_back(all_floats, exhausted_section(rows));
  std::string page = introduction;
  for (const auto& [title, text] : sections)
    page += "\n" + title + "\n" + text.substr(0, text.find_last_not_of('\n') + 1) + "\n";
  if (options.output.empty()) {
    std::cout << page;
    return;
  }
  std::ofstream file(options.output);
  file << page;
  if (!file.flush()) throw Error(ErrorKind::io, "[numerics] --output: cannot write " + options.output);
}

}  // namespace
}  // namespace adit::test

int main(int count, char** words) try {
  using namespace adit::test;
  Options options = parse(count, words);
  if (!options.exhaustive.empty()) return run_exhaustively(options) ? 0 : 1;
  write_page(options);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "numerics: " << error.what() << "\n";
  return 1;
}
