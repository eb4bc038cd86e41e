#pragma once
// Returns the memory that only the start of a process needs.

namespace belay {

// Returns free pages of the heap to the operating system, and unmaps the pages of code and
// constants that were read from files: those that are used later are mapped again from the page
// cache. For a process that has started and now waits. Pages that this process has changed are
// kept, for example those with the breakpoints of a debugger. Thread-safe; without effect if /proc
// is not readable.
void release_start_memory();

}  // namespace belay
