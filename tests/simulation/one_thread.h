#pragma once
// tests/simulation/one_thread.h - what lies below a simulation, set for a process that has one
// thread: SQLite without its mutexes and without counting what it uses, and memory that is kept for
// the next seed. Changes nothing that Belay or SQLite does, only how long it takes.

namespace belay::simulation {

// Once for the process, before SQLite is used; later calls do nothing.
void set_for_one_thread();

}  // namespace belay::simulation
