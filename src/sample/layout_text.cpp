#include "sample/layout_text.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>

namespace adit::sampling {

namespace {

constexpr int64_t most_together = 4;  // chains of a team: each is a part of the kernel
constexpr std::pair<const char*, Home> homes[] = {
    {"buffer", Home::buffer}, {"array", Home::array}, {"shared", Home::shared}, {"split", Home::split}};

const char* name_of(Home home) {
  for (const auto& [name, value] : homes)
    if (value == home) return name;
  return "?";
}

[[noreturn]] void refuse(const std::string& expected, const std::string& text) {
  throw Error(ErrorKind::bad_argument,
              fmt::format("[sample] layout: expected {}, got \"{}\"", expected, text));
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text)
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

int64_t whole(const std::string& part, int64_t least, int64_t most, const std::string& text) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
  if (error != std::errc() || end != part.data() + part.size() || number < least || number > most)
    refuse(fmt::format("a number from {} to {} after the colon", least, most), text);
  return number;
}

}  // namespace

std::string blocks_text(const Density& density) {
  return density.loop_numbers == lower::any_loop_numbers ? ""
                                                         : fmt::format(":blocks:{}", density.loop_numbers);
}

std::string layout_text(const KernelOptions& shape, const Density& density) {
  if (shape.outside) return "device" + blocks_text(density);
  std::string text =
      fmt::format("{}:{}:{}", shape.by_team ? "team" : "lane", shape.lanes, name_of(shape.home));
  if (!shape.by_team && shape.home == Home::shared) text += fmt::format(":{}", shape.slots);
  if (shape.together > 1) text += fmt::format(":{}", shape.together);
  return text + blocks_text(density);
}

LayoutWish layout_wish(const std::string& text) {
  LayoutWish wish;
  if (text.empty() || text == "auto") return wish;
  std::vector<std::string> parts = parts_of(text);
  constexpr const char* forms =
      "auto, lane, team, device, or a layout that a run told, such as team:64:split";
  if (parts[0] == "lane")
    wish.placement = Placement::lane;
  else if (parts[0] == "team")
    wish.placement = Placement::team;
  else if (parts[0] == "device")
    wish.placement = Placement::device;
  else
    refuse(forms, text);
  if (parts.size() > 2 && parts[parts.size() - 2] == "blocks") {
    wish.forced.loop_numbers = whole(parts.back(), 1, std::numeric_limits<int64_t>::max() - 1, text);
    parts.resize(parts.size() - 2);
  }
  const bool is_device = wish.placement == Placement::device;
  if (parts.size() > (is_device ? 2u : 4u)) refuse(forms, text);
  if (is_device) {
    if (parts.size() > 1) wish.forced.rows_teams = whole(parts[1], 1, 65535, text);
    return wish;
  }
  if (parts.size() > 1) wish.forced.lanes = static_cast<uint32_t>(whole(parts[1], 1, 1024, text));
  if (parts.size() > 2) {
    for (const auto& [name, home] : homes)
      if (parts[2] == name) wish.forced.home = home;
    if (!wish.forced.home) refuse("buffer, array, shared or split after the second colon", text);
  }
  if (parts.size() > 3 && wish.placement == Placement::team)
    wish.forced.together = whole(parts[3], 1, most_together, text);
  else if (parts.size() > 3)
    wish.forced.slots = whole(parts[3], 0, 64, text);
  return wish;
}

void check_layout(const LayoutWish& wish, const std::string& text, const Device& device) {
  const bool is_cpu = device.info().kind == DeviceKind::cpu, by_team = wish.placement == Placement::team;
  if (wish.forced.lanes > device.limits().max_lanes)
    refuse(fmt::format("at most {} lanes on {}", device.limits().max_lanes, device.info().id), text);
  if (wish.forced.together > 1 && (!is_cpu || wish.forced.home != Home::buffer))
    refuse("chains that share a team only in the buffer of a CPU", text);
  if (!wish.forced.home) return;
  std::vector<Home> known{Home::buffer};
  if (by_team || !is_cpu) known.push_back(Home::shared);
  if (!by_team) known.push_back(Home::array);
  if (by_team && !is_cpu && device.limits().lanes_by_hand) known.push_back(Home::split);
  if (std::find(known.begin(), known.end(), *wish.forced.home) != known.end()) return;
  std::string names;
  for (const Home home : known) names += (names.empty() ? "" : " or ") + std::string(name_of(home));
  refuse(fmt::format("{} for a {} on {}", names, by_team ? "team" : "lane", device.info().id), text);
}

}  // namespace adit::sampling
