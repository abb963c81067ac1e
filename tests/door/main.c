/* door_c CASE runs one case on every device; door_c --list tells the cases; door_c --same A B ... compares
 * them with another list, CMake's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "door.h"
#include "rounds.h"

adit_device* device;
static int round_number;

const char* device_id(void) { return device ? adit_device_info_of(device)->id : "no device"; }
bool on_cpu(void) { return strcmp(device_id(), "cpu") == 0; }
bool first_round(void) { return round_number == 0; }

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
#define CASE(name) {#name, name##_case},
#include "cases.h"
#undef CASE
};

static bool is_chosen(const adit_device_info* info) {
  const char* const chosen = getenv("ADIT_TEST_DEVICES");
  if (!chosen) return strncmp(info->reason, "cannot be used", 14) != 0;
  const size_t length = strlen(info->id);
  for (const char* at = chosen; (at = strstr(at, info->id)); at += length)
    if ((at == chosen || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return true;
  return false;
}

/* The cpu comes first: what is tried once is tried there. */
static void run_on_devices(void (*run)(void), bool cpu) {
  adit_device_list* list;
  OK(adit_device_list_new(&list, &failure));
  for (size_t i = 0; i < adit_device_list_size(list); ++i) {
    const adit_device_info* const info = adit_device_list_at(list, i);
    if ((strcmp(info->id, "cpu") == 0) != cpu || !is_chosen(info)) continue;
    OK(adit_device_open(info->id, &device, &failure));
    OK(adit_device_make_default(device, &failure));
    run();
    free_kept();
    adit_device_free(device);
    device = NULL;
    ++round_number;
  }
  adit_device_list_free(list);
}

static int compare(int count, char** names) {
  bool same = (size_t)count == COUNT(cases);
  for (int i = 0; i < count && same; ++i) same = strcmp(names[i], cases[i].name) == 0;
  if (!same) fprintf(stderr, "CMake has other cases: configure again, or look at tests/door/cases.h\n");
  return !same;
}

int main(int count, char** words) {
  if (count == 2 && strcmp(words[1], "--list") == 0) {
    for (size_t i = 0; i < COUNT(cases); ++i) puts(cases[i].name);
    return 0;
  }
  if (count > 2 && strcmp(words[1], "--same") == 0) return compare(count - 2, words + 2);
  for (size_t i = 0; count == 2 && i < COUNT(cases); ++i) {
    if (strcmp(words[1], cases[i].name) != 0) continue;
    run_on_devices(cases[i].run, true);
    run_on_devices(cases[i].run, false);
    if (round_number == 0) fprintf(stderr, "there is no device\n");
    return wrong_count != 0 || round_number == 0;
  }
  fprintf(stderr, "door_c: expected the name of a case, as door_c --list tells them\n");
  return 2;
}
