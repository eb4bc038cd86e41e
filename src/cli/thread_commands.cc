#include "cli/thread_commands.h"

#include "cli/help_text.h"

namespace belay::cli {
namespace {

constexpr std::size_t kThreadsMax = 1'000;

void add_threads_limit(CLI::App* verb, std::size_t& limit) {
  verb->add_option("--limit", limit, "Maximum number of rows, newest first")
      ->check(CLI::Range(std::size_t{1}, kThreadsMax))
      ->capture_default_str();
}

void add_show_thread(CLI::App& threads, const AddVerb& add, ShowThread& into, Command& chosen) {
  CLI::App* show = add(threads, "show", "Show a thread and its runs", help::kThreads);
  show->add_option("THREAD", into.thread, "The thread")->required();
  add_threads_limit(show, into.limit);
  show->add_option("--before", into.before, "Only runs before this one, the last of the page");
  show->callback([&chosen, &into] { chosen = into; });
}

void add_edit_thread(CLI::App& threads, const AddVerb& add, EditThread& into, Command& chosen) {
  CLI::App* edit =
      add(threads, "edit", "Change a thread's title, metadata or expiry", help::kEditThread);
  edit->add_option("THREAD", into.thread, "The thread")->required();
  edit->add_option("--title", into.title, "Title; an empty one removes it");
  edit->add_option("--metadata", into.metadata,
                   "JSON object, merged into the metadata; a member that is null is removed");
  edit->add_option("--expires", into.expires,
                   "Time until the thread is deleted: 12h, 30d; never: no expiry");
  edit->callback([&chosen, &into] { chosen = into; });
}

void add_preserve_thread(CLI::App& threads, const AddVerb& add, bool preserve, Preserve& into,
                         Command& chosen) {
  CLI::App* verb =
      preserve ? add(threads, "preserve", "Exempt a thread from pruning", help::kPreserve)
               : add(threads, "unpreserve", "Allow a thread to be pruned again", help::kPreserve);
  verb->add_option("THREAD", into.thread, "The thread")->required();
  verb->callback([&chosen, &into, preserve] {
    into.preserve = preserve;
    chosen = into;
  });
}

}  // namespace

void add_thread_commands(CLI::App& app, const AddVerb& add, ThreadWords& words, Command& chosen) {
  CLI::App* threads = add(app, "threads", "List threads, newest first", help::kThreads);
  threads->require_subcommand(0, 1);
  add_threads_limit(threads, words.list.limit);
  threads->callback([&words, &chosen, threads] {
    if (threads->get_subcommands().empty()) chosen = words.list;
  });
  add_show_thread(*threads, add, words.show, chosen);
  add_edit_thread(*threads, add, words.edit, chosen);
  add_preserve_thread(*threads, add, true, words.preserve, chosen);
  add_preserve_thread(*threads, add, false, words.preserve, chosen);
}

}  // namespace belay::cli
