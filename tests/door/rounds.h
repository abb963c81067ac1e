/* What main.c and support.c share alone. */
#pragma once

#include <stdatomic.h>

extern atomic_int wrong_count;
