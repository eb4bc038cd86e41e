#include "cli/help_text.h"

namespace belay::cli::help {

const std::string_view kProgram =
    "{about}\n\nYou can kill {p} at any moment and resume its runs. A run that needs a decision "
    "waits in the store, not in a process.\nWithout a command, {p} shows runs in progress and "
    "pending approvals.";

const std::string_view kProgramEnd =
    R"(Examples:
{examples}  {p} approvals list
  {p} approvals approve 1f0c64 --comment "agreed"
  {p} resume --all                # resume the runs of killed processes

Exit codes:
  0  done                           6  the store is unavailable, damaged or newer
  1  the run failed                 7  the run was cancelled
  2  invalid input, or not found   70  an internal error of {name}
  3  the run waits for a decision
  4  conflict: decided otherwise, expired, ended, or owned by another process
  A command that a signal stopped exits with 128 + its number (Ctrl-C: 130).

Environment (an option overrides it):
  BELAY_STORE             sqlite:PATH, memory: or postgresql://USER@HOST/DATABASE; else
                          DATABASE_URL, if it is a PostgreSQL URL; else {name}/{name}.db in
                          $XDG_DATA_HOME (~/.local/share if it is not set)
  BELAY_NOTIFY_URL        the PostgreSQL server itself, if the store is behind a pooler
  BELAY_CONFIG            the settings file: see {p} config --help
  BELAY_SERVER            a Belay server instead of a store: http://HOST:PORT
  BELAY_API_KEY           the API key for the server; or BELAY_API_KEY_FILE: a file with it
  BELAY_USER              user of records and runs (local)
  BELAY_ROLES             roles that you hold for approvals, comma-separated
  BELAY_LANGUAGE          en or es (default: from LANG)
  BELAY_TIME_ZONE         of dates and times, such as Europe/Madrid (default: the machine's)
  BELAY_KEY_FILE          the keys of an encrypted store, one "id:key" per line; the first key
                          encrypts; or BELAY_KEYS: the lines themselves; or
                          CHECKPOINT_ENCRYPTION_KEY: one key without its id
  BELAY_COMPRESSION       always, never or with-key (with-key)
  BELAY_ACCEPT_PLAIN      true: read plaintext values even if a key is set (false)
{models}{settings}  AGENT_MAX_RETRIES       maximum attempts of a node that can be retried (3)
  AGENT_TIMEOUT_MS        maximum working time of a run, in milliseconds (300000)
  AGENT_REQUIRE_APPROVAL  false: runs do not request approvals (true)
  NO_COLOR                no colours

More: {p} COMMAND --help.
)";

const std::string_view kModelSettings =
    R"(  BELAY_MODEL             the model: ollama:NAME, openai:NAME or anthropic:NAME; several,
                          comma-separated, are tried in turn
  BELAY_MODEL_URL         its server, if it is not the provider's default
  OPENAI_API_KEY, ANTHROPIC_API_KEY, OLLAMA_API_KEY, OLLAMA_HOST
                          keys, and the address of Ollama; see docs/configuration.md
)";

}  // namespace belay::cli::help
