// Files that the build puts into the command as text (cmake/EmbedFiles.cmake).
#pragma once

namespace adit::examples {

struct EmbeddedFile {
  const char *name, *text;
};
extern const EmbeddedFile embedded_files[];
extern const int embedded_count;

}  // namespace adit::examples
