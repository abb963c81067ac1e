// Lines on standard error: warnings always, unless ADIT_LOG=silent; more for whoever debugs, by ADIT_LOG=info
// or ADIT_LOG=debug.
#pragma once

#include <fmt/format.h>
#include <string_view>

namespace adit {

enum class LogLevel { silent, warning, info, debug };

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

template <class... T>
void log_warning(fmt::format_string<T...> format, T&&... values) {
  if (log_level() >= LogLevel::warning)
    log_line(LogLevel::warning, fmt::format(format, std::forward<T>(values)...));
}

}  // namespace adit
