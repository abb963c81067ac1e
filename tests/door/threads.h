/* A function on several threads at once: each gets its number, and frees what it kept. */
#pragma once

void on_threads(int count, void (*f)(int number));
