#pragma once
// cli/list_text.h - the words of `threads`, `history` and `replay`, in English and Spanish.

#include <string>
#include <string_view>
#include <vector>

#include "belay/output.h"
#include "belay/rows.h"
#include "belay/thread.h"
#include "cli/localized_text.h"

namespace belay::cli {

struct ListText {
  // Headers of tables.
  std::vector<std::string> thread_headers, commit_headers;
  std::string_view no_threads, more;        // {command}
  std::string_view code_gone;               // no graph of this program continues the run
  std::string_view preserved, unpreserved;  // {thread}
  // Labels of one thread, of equal widths.
  std::string_view title, metadata, created, active, expires;
  std::string_view run;              // {run}, {state}, {time}
  std::string_view other_materials;  // {n}, {groups}
  // Of `replay`.
  std::string_view matching;   // {n}, {all}
  std::string_view different;  // {n}, {node}, {part}
  std::string_view recorded, replayed;
};

const ListText& list_text_of(Language language);

std::string_view status_label(Language language, ThreadStatus status);
std::string_view commit_label(Language language, CommitKind kind);

// A group of a bill of materials.
std::string_view material_label(Language language, std::string_view group);

// Examples: "completed: replied", "paused: approval", "failed".
std::string run_state_text(Language language, const RunRow& run);

}  // namespace belay::cli
