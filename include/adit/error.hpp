// The one exception type of the library.
#pragma once

#include <stdexcept>
#include <string>

#pragma GCC visibility push(default)
namespace adit {

enum class ErrorKind {
  bad_argument,   // the caller passed something that cannot work; the message names it
  not_found,      // a named thing (device, file, kernel) does not exist
  unsupported,    // the device or the build lacks what is asked for
  out_of_memory,  // the message has the sizes
  device_lost,    // the device hung or vanished; open it again
  io,             // a file could not be read or written
  internal        // a defect of ours
};

// Messages read "[operation] argument: expected ..., got ...".
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace adit
#pragma GCC visibility pop
