// libnetcdf, opened when it is first called: the one in lib/ beside the command's own folder, else the
// system's.
//
// The command does not link it. Its forty libraries, some of which drivers of Vulkan load too, would come
// before the system's for all of the process; opened here they are seen by nobody else.
#include <dlfcn.h>
#include <filesystem>
#include <netcdf.h>
#include <netcdf_mem.h>
#include <string>
#include <sys/auxv.h>

namespace {

std::string& trouble() {
  static std::string& text = *new std::string;
  return text;
}

void* open_library() {
  std::error_code none;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", none);
  if (self.empty()) {  // a root without /proc
    const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    self = std::filesystem::canonical(started ? started : "", none);
  }
  const std::filesystem::path bundled = self.parent_path().parent_path() / "lib" / ADIT_NETCDF_FILE;
  const bool is_bundled = !self.empty() && std::filesystem::exists(bundled, none);
  void* library = dlopen(is_bundled ? bundled.c_str() : ADIT_NETCDF_FILE, RTLD_NOW | RTLD_LOCAL);
  if (!library) trouble() = dlerror();
  return library;
}

void* library() {
  static void* const opened = open_library();
  return opened;
}

template <class Function>
Function* find(Function*, const char* name) {
  void* const found = library() ? dlsym(library(), name) : nullptr;
  if (library() && !found) trouble() = std::string(ADIT_NETCDF_FILE) + " lacks " + name;
  return reinterpret_cast<Function*>(found);
}

template <class Function, class... Arguments>
int call(Function* function, Arguments... arguments) {
  return function ? function(arguments...) : NC_ENOTBUILT;
}

}  // namespace

#define ADIT_CALL(name, ...)                      \
  ([&] {                                          \
    static auto* const found = find(name, #name); \
    return call(found, __VA_ARGS__);              \
  }())

extern "C" {

// Empty: there is none.
const char* nc_inq_libvers() {
  static auto* const found = find(nc_inq_libvers, "nc_inq_libvers");
  return found ? found() : "";
}
const char* nc_strerror(int status) {
  static auto* const found = find(nc_strerror, "nc_strerror");
  return found ? found(status) : trouble().c_str();
}

int nc_abort(int a) { return ADIT_CALL(nc_abort, a); }
int nc_close_memio(int a, NC_memio* b) { return ADIT_CALL(nc_close_memio, a, b); }
int nc_create_mem(const char* a, int b, size_t c, int* d) { return ADIT_CALL(nc_create_mem, a, b, c, d); }
int nc_def_dim(int a, const char* b, size_t c, int* d) { return ADIT_CALL(nc_def_dim, a, b, c, d); }
int nc_def_grp(int a, const char* b, int* c) { return ADIT_CALL(nc_def_grp, a, b, c); }
int nc_def_var(int a, const char* b, nc_type c, int d, const int* e, int* f) {
  return ADIT_CALL(nc_def_var, a, b, c, d, e, f);
}
int nc_def_var_deflate(int a, int b, int c, int d, int e) {
  return ADIT_CALL(nc_def_var_deflate, a, b, c, d, e);
}
int nc_free_string(size_t a, char** b) { return ADIT_CALL(nc_free_string, a, b); }
int nc_get_att_double(int a, int b, const char* c, double* d) {
  return ADIT_CALL(nc_get_att_double, a, b, c, d);
}
int nc_get_att_string(int a, int b, const char* c, char** d) {
  return ADIT_CALL(nc_get_att_string, a, b, c, d);
}
int nc_get_att_text(int a, int b, const char* c, char* d) { return ADIT_CALL(nc_get_att_text, a, b, c, d); }
int nc_get_att_ulonglong(int a, int b, const char* c, unsigned long long* d) {
  return ADIT_CALL(nc_get_att_ulonglong, a, b, c, d);
}
int nc_get_var_double(int a, int b, double* c) { return ADIT_CALL(nc_get_var_double, a, b, c); }
int nc_get_var_string(int a, int b, char** c) { return ADIT_CALL(nc_get_var_string, a, b, c); }
int nc_inq_att(int a, int b, const char* c, nc_type* d, size_t* e) {
  return ADIT_CALL(nc_inq_att, a, b, c, d, e);
}
int nc_inq_dim(int a, int b, char* c, size_t* d) { return ADIT_CALL(nc_inq_dim, a, b, c, d); }
int nc_inq_grp_ncid(int a, const char* b, int* c) { return ADIT_CALL(nc_inq_grp_ncid, a, b, c); }
int nc_inq_nvars(int a, int* b) { return ADIT_CALL(nc_inq_nvars, a, b); }
int nc_inq_var(int a, int b, char* c, nc_type* d, int* e, int* f, int* g) {
  return ADIT_CALL(nc_inq_var, a, b, c, d, e, f, g);
}
int nc_inq_varid(int a, const char* b, int* c) { return ADIT_CALL(nc_inq_varid, a, b, c); }
int nc_open_mem(const char* a, int b, size_t c, void* d, int* e) {
  return ADIT_CALL(nc_open_mem, a, b, c, d, e);
}
int nc_put_att_double(int a, int b, const char* c, nc_type d, size_t e, const double* f) {
  return ADIT_CALL(nc_put_att_double, a, b, c, d, e, f);
}
int nc_put_att_longlong(int a, int b, const char* c, nc_type d, size_t e, const long long* f) {
  return ADIT_CALL(nc_put_att_longlong, a, b, c, d, e, f);
}
int nc_put_att_text(int a, int b, const char* c, size_t d, const char* e) {
  return ADIT_CALL(nc_put_att_text, a, b, c, d, e);
}
int nc_put_att_ulonglong(int a, int b, const char* c, nc_type d, size_t e, const unsigned long long* f) {
  return ADIT_CALL(nc_put_att_ulonglong, a, b, c, d, e, f);
}
int nc_put_var_double(int a, int b, const double* c) { return ADIT_CALL(nc_put_var_double, a, b, c); }
int nc_put_var_longlong(int a, int b, const long long* c) { return ADIT_CALL(nc_put_var_longlong, a, b, c); }
int nc_put_var_string(int a, int b, const char** c) { return ADIT_CALL(nc_put_var_string, a, b, c); }

}  // extern "C"
