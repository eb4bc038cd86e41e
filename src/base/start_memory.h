#pragma once
// Returns the memory that only the start of a process needs.

namespace belay {

// Returns free pages of the heap to the operating system, and unmaps the code and constants of the
// program and its libraries: those that are used later are mapped again from the page cache. For a
// process that has started and now waits. An object with pages of this process alone, for example
// with the breakpoints of a debugger, is kept. Thread-safe. Without effect if /proc is not
// readable.
void release_start_memory();

}  // namespace belay
