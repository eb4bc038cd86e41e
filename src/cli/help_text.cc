#include "cli/help_text.h"

namespace belay::cli::help {

const std::string_view kProgram =
    "belay - agents that survive: every step is committed before the next one begins.\n"
    "\n"
    "Kill it at any moment and go on where it stood. Nothing is saved that you did not approve.\n"
    "Without a verb, belay shows what is running and what waits for you.";

const std::string_view kProgramEnd =
    R"(Examples:
  belay notes import diary.jsonl
  belay run daily-audit --date 1910-02-06
  belay approvals list
  belay approvals approve 1f0c64 --comment "agreed"
  belay run routine --date 1910-02-07
  belay resume --all                # what a killed process left behind

Exit codes:
  0  done                           6  the store is unavailable, damaged or newer
  1  the run failed                 7  the run was cancelled
  2  bad input, or no such thing   70  an error of belay itself
  3  waits for a person
  4  conflict: already decided otherwise, expired, ended, or at work elsewhere
  A command that a signal stopped ends with 128 + its number (Ctrl-C: 130).

Environment (a flag wins over it):
  BELAY_STORE             sqlite:PATH or memory:; else belay/belay.db in $XDG_DATA_HOME,
                          which is ~/.local/share where it is not set
  BELAY_USER              whose notes and runs (local)
  BELAY_MODEL             the model; only builtin exists: rules, no language model
  BELAY_LANGUAGE          en or es; else as LANG says
  BELAY_HELP_TEXT         where to find help near you, shown from risk 8 up
  AGENT_MAX_RETRIES       attempts of a step that may be tried again (3)
  AGENT_TIMEOUT_MS        how long a run may work, in milliseconds (300000)
  AGENT_REQUIRE_APPROVAL  false: runs do not stop for approval (true)
  NO_COLOR                no colours

More: belay VERB --help, and docs/command-line.md.
)";

const std::string_view kNotes =
    R"(Examples:
  belay notes import diary.jsonl    # {"date":"1910-02-06","content":"..."} a line
  belay notes list --date 1910-02-06
  belay notes show 1910-02-06.01.5d41402abc4b
)";

const std::string_view kNotesImport =
    R"(FILE has one JSON object a line: "date" (YYYY-MM-DD), "content" and, if you like, "id".
Every line is checked before anything is written: all notes are imported, or none.
Importing the same file again changes nothing. A note with an "id" that exists replaces it.

Examples:
  belay notes import diary.jsonl
  echo '{"date":"2026-11-21","content":"Slept four hours."}' | belay notes import -
)";

const std::string_view kRun =
    R"(A run that has something to save stops for a person (exit code 3) and prints the command that
approves it; belay run never decides. The same --thread again goes on, or shows the result.

Examples:
  belay run daily-audit --date 1910-02-06
  belay run daily-audit --date 1910-02-06 --thread audit-may-2 --language es
  belay run routine --date 1910-02-07 --expires 2h
  belay run routine --date 1910-02-07 --json | jq .approval.interruptId
)";

const std::string_view kApprovals =
    R"(ID is an approval's id, the first 6 or more characters of it, or the thread that waits.

Examples:
  belay approvals list              # what waits for you
  belay approvals list --all        # decided, expired and closed ones too
  belay approvals show 1f0c64
  belay approvals approve 1f0c64 --by ana
  belay approvals reject audit-may-2 --comment "not what I wrote"
)";

const std::string_view kDecide =
    R"(Of several decisions one wins. The same decision again shows the current state (exit code 0);
another one, or one after the expiry, changes nothing (exit code 4). The run goes on here.
--edit takes the payload as JSON: show it with belay approvals show ID --json.

Examples:
  belay approvals approve 1f0c64 --by ana
  belay approvals approve audit-may-2 --edit summary.json
  belay approvals reject 1f0c64 --comment "not what I wrote"
)";

const std::string_view kResume =
    R"(Goes on with a run whose process died, from its last commit. A run that another process is at
work on stays with it (exit code 4).

Examples:
  belay resume audit-may-2
  belay resume --all
)";

const std::string_view kCancel = R"(Cancels whoever works on it; what was committed stays.

Example:
  belay cancel audit-may-2
)";

const std::string_view kThreads = R"(Example:
  belay threads --limit 100
)";

const std::string_view kHistory = R"(Every commit of the thread's run, newest first.

Examples:
  belay history audit-may-2
  belay history audit-may-2 --json | jq '.checkpoints[].node'
)";

const std::string_view kState = R"(Examples:
  belay state audit-may-2
  belay state audit-may-2 --at 2    # as it was after its commit 2
)";

const std::string_view kAgents = R"(No store is opened.

Examples:
  belay agents list
  belay agents show daily_auditor
  belay agents graph daily_auditor --format mermaid
  belay agents graph daily_auditor --format dot | dot -Tsvg -o graph.svg
)";

const std::string_view kCheck =
    R"(Reads the whole store and checks every rule that must hold. Exit code 1 if one does not.

Example:
  belay check
)";

const std::string_view kDoctor =
    R"(Looks, and changes nothing. Exit code 6 if the store can't be used.

Example:
  belay doctor --store sqlite:/var/lib/belay/belay.db
)";

}  // namespace belay::cli::help
