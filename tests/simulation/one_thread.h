#pragma once
// tests/simulation/one_thread.h - configures SQLite and malloc for a process with one thread
//
// SQLite runs without mutexes and memory statistics, and freed memory is kept for the next seed.
// This changes only the speed, not the behaviour of Belay or SQLite.

namespace belay::simulation {

// Must be called before SQLite is used; later calls do nothing.
void set_for_one_thread();

}  // namespace belay::simulation
