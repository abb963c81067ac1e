// Words for whoever debugs: ADIT_LOG=debug or ADIT_LOG=info prints them on standard error. Silent by default.
#pragma once

#include <fmt/format.h>
#include <string_view>

namespace adit {

enum class LogLevel { silent, info, debug };

LogLevel log_level();  // from ADIT_LOG, read once
void log_line(LogLevel level, std::string_view line);

template <class... T>
void log_debug(fmt::format_string<T...> format, T&&... values) {
  if (log_level() >= LogLevel::debug)
    log_line(LogLevel::debug, fmt::format(format, std::forward<T>(values)...));
}
template <class... T>
void log_info(fmt::format_string<T...> format, T&&... values) {
  if (log_level() >= LogLevel::info)
    log_line(LogLevel::info, fmt::format(format, std::forward<T>(values)...));
}

}  // namespace adit
