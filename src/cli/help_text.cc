// Long on purpose: the help of all commands, in the order of the command line.

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

const std::string_view kStatus = R"(The same as {p} without a command.

Example:
  {p} status --json
)";

const std::string_view kRun =
    R"(A run that needs a decision pauses (exit code 3) and prints the command that approves it; run
never decides. A known --thread gets a further run, which starts from the state that the run before
it left; an agent with one run per thread resumes that run, or shows its result. If a run of the
thread has not ended, --if-busy selects the effect: reject (exit code 4), enqueue: the run waits for
it; interrupt: it is cancelled; rollback: it is cancelled and deleted. The same --key again starts
nothing: it shows the run of the key.

Examples:
  {p} run --input topic="the outage"
  {p} run --input @input.json --thread first
  {p} run --input topic="and now?" --thread first --if-busy enqueue
  {p} run --input - --json < input.json
)";

const std::string_view kEnqueue =
    R"(Adds a run to a queue of the store and returns; a worker on this store starts it. --thread,
--key and --if-busy have the same effects as in {p} run.

Examples:
  {p} enqueue --input topic="the outage" --thread first
  {p} enqueue --input @input.json --after 2h
  {p} worker
)";

const std::string_view kWorker =
    R"(Claims queued and orphaned runs, and processes due timers, retries and expired approvals.
Several workers can share a store; each run is executed by one of them. SIGTERM and Ctrl-C: the
worker claims nothing more, and releases its runs to their queues at their next commit; a second
signal ends it immediately, which loses no commit either. Once an hour it deletes threads that ended
long ago (--retention), as {p} store prune does.

Examples:
  {p} worker
  {p} worker --max-runs 4
  {p} worker --until-idle         # in a script: exit when no run is claimable
)";

const std::string_view kServe =
    R"(Serves the HTTP API (docs/api.md; GET /openapi.json describes it), and executes queued and
orphaned runs, as {p} worker does. Without keys it listens on this machine only. A file of keys has
one "NAME PERMISSION TOKEN" per line, or "NAME PERMISSION TOKEN ROLE,ROLE"; PERMISSION is read, run,
decide or administer, and each one includes those before it. A key can read its own user's runs and
records; with decide also the approvals of other users, with administer everything. SIGTERM and
Ctrl-C: the server claims nothing more, completes requests and releases its runs.
With keys, a user or an address can start 10 runs per minute and have 5 in progress; without keys
there is no limit unless one is set.

Examples:
  {p} serve
  {p} serve --listen 0.0.0.0:8123 --api-keys keys.txt --tls-certificate c.pem --tls-key k.pem
  curl -d '{"input":{"topic":"the outage"}}' -H content-type:application/json \
    http://127.0.0.1:8123/api/agents/NAME/runs
)";

const std::string_view kApi =
    R"(Prints the description of the API of {p} serve without a server, for generators of clients.

Examples:
  {p} api > openapi.json
  {p} api --markdown
)";

const std::string_view kFork =
    R"(Starts a run in a new thread, from the state of another run after one of its commits, which
can be edited. The other run does not change. --preview reports which nodes would run again, and
which effects have already happened. With edits, the fork starts before an approval that it would
skip, and requests it again.

Examples:
  {p} fork first --preview
  {p} fork first --at 2 --edit topic="the outage of May" --thread second
  {p} fork first --copy --thread second   # current state; an ended run remains ended
)";

const std::string_view kApprovals =
    R"(ID is an approval id, its first 6 or more characters, or the thread of a waiting run.

Examples:
  {p} approvals list              # pending approvals
  {p} approvals list --all        # also decided, expired and closed approvals
  {p} approvals show 1f0c64
  {p} approvals approve 1f0c64 --by ana
  {p} approvals reject first --comment "not like this"
)";

const std::string_view kDecide =
    R"(Of several decisions, the first is accepted. The same decision again shows the current state
(exit code 0); another one, or one after the expiry, changes nothing (exit code 4). The run
continues in this process. --edit reads the payload as JSON: show it with {p} approvals show ID
--json. An approval that requires a role needs --role, or BELAY_ROLES; on a server, the roles of the
API key.

Examples:
  {p} approvals approve 1f0c64 --by ana
  {p} approvals approve first --edit payload.json
  {p} approvals reject 1f0c64 --comment "not like this"
)";

const std::string_view kResume =
    R"(Resumes a run whose process died, from its last commit. A run that a live process owns
remains with that process (exit code 4).

Examples:
  {p} resume first
  {p} resume --all
)";

const std::string_view kCancel =
    R"(Cancels the thread's current run, or --run, whichever process owns it. Its commits
remain.

Examples:
  {p} cancel first
  {p} cancel first --run 1f0c64
)";

const std::string_view kThreads =
    R"(A thread has one run after another. It is idle, busy (a run is queued or running, or waits
for a timer), interrupted (a run waits for a person) or in error (a run failed, or is quarantined).
`threads show` lists its runs, newest first, each with its input.

Examples:
  {p} threads --limit 100
  {p} threads show first
)";

const std::string_view kEditThread =
    R"(Changes the named members only. An expired thread is deleted by {p} store prune and by a
worker, as soon as its runs have ended.

Examples:
  {p} threads edit first --title "The outage of May"
  {p} threads edit first --metadata '{"customer": 7, "draft": null}'
  {p} threads edit first --expires 30d
)";

const std::string_view kHistory = R"(Lists the commits of all runs of the thread, newest first.

Examples:
  {p} history first
  {p} history first --run 1f0c64
  {p} history first --json | jq '.checkpoints[].node'
)";

const std::string_view kCalls =
    R"(Lists the calls of the thread's current run, or of --run, in the order in which they were
started: requests and replies of the model, and results of effects and costs. The setting
model_prompts defines which part of a prompt is stored (docs/models.md).

Examples:
  {p} calls first
  {p} calls first --json | jq '.calls[].prompt.messages'
)";

const std::string_view kDev =
    R"(For the development of an agent. The server is a separate process; when the program is
rebuilt, the server shuts down and restarts at the same address, and its runs continue after their
last commit. A server that crashed restarts with the next build. The store is .belay/belay.db in
this folder, unless you name another; it is not deleted.

Examples:
  {p} dev                       # this program, with its agents
  {p} dev build/release/mail    # yours: belay::main() gives it a server
)";

const std::string_view kExport =
    R"(Writes the thread's current run, or --run, as one JSON document: its commits, values, calls,
events, messages and approvals. The document is not encrypted: protect it like the prompts and
replies that it contains. The user's records are not part of a run.

Examples:
  {p} export first --to first.json
  {p} export first --server http://prod:8123 | {p} import -
)";

const std::string_view kImport =
    R"(Imports the whole run or nothing, and only a run that passes every rule of {p} check. It
keeps its ids: an existing thread is a conflict. state, history, calls, events and fork work on it
as on any run; replay too, if its nodes read no records of the user. A run that has not ended could
continue both here and in its original store, with all its effects, so it requires
--allow-unfinished. Undelivered messages are discarded here; the original store delivers them.

Examples:
  {p} import first.json && {p} replay first
)";

const std::string_view kState = R"(Examples:
  {p} state first
  {p} state first --at 2    # its state after commit 2
  {p} state first --run 1f0c64
)";

const std::string_view kEvents =
    R"(One line per event, with the id to continue after; with --json, one document per line.
Kinds: status, values, updates, messages, custom, tasks, checkpoints, approvals, debug.

Examples:
  {p} events first
  {p} events first --follow --kinds status,approvals
  {p} events first --after 12-3 --json
)";

const std::string_view kReplay =
    R"(Executes the run again in memory, with recorded model replies, effects and decisions, and
compares it commit by commit. It calls no external system and writes nothing. Exit code 1 if a
commit differs.

Example:
  {p} replay first
)";

const std::string_view kOutbox =
    R"(A worker of a program with receivers delivers messages, at least once each. A message that is
discarded after its last attempt remains in the outbox with its last error; retry delivers it
again.

Examples:
  {p} outbox list
  {p} outbox list --thread first --all
  {p} outbox retry 0193f1c2-7a10-7f3e-9c5d-0a1b2c3d4e5f/3/0
  {p} outbox discard 0193f1c2-7a10-7f3e-9c5d-0a1b2c3d4e5f/3/0
)";

const std::string_view kQueue =
    R"(A run belongs to the queue that it was started with. Workers do not claim runs of a paused
queue; its running runs continue. The concurrency limits per user, key and queue hold over all
processes of the store.

Examples:
  {p} queue
  {p} queue pause mails
  {p} queue limit mails --max-runs 4
  {p} queue retry first --thread second
)";

const std::string_view kWorkers =
    R"(Lists each process with its start time, the number of its runs, and the start of the oldest
one.

Example:
  {p} workers
)";

const std::string_view kAgents = R"(Opens no store.

Examples:
  {p} agents list
  {p} agents show NAME
  {p} agents graph NAME --format mermaid
  {p} agents graph NAME --format dot | dot -Tsvg -o graph.svg
)";

const std::string_view kConfig =
    R"(An option overrides the environment, which overrides the settings file, which overrides the
default. The file is the first that exists: --config, BELAY_CONFIG, ./belay.yaml, belay/belay.yaml
in $XDG_CONFIG_HOME (~/.config); "belay" stands for the name of the program.

./belay.yaml can be written by others, as in a cloned repository. If only this file names a server,
no key of the environment or of your files is sent there. `config trust` trusts the file with its
current contents.

Examples:
  {p} config explain
  {p} config path
  {p} config trust
)";

const std::string_view kPreserve = R"({p} store prune does not delete a preserved thread.

Examples:
  {p} threads preserve audit-may-2
  {p} threads unpreserve audit-may-2
)";

const std::string_view kStore = R"(Examples:
  {p} store stats
  {p} store prune --older-than 90d --dry-run
  {p} store compact               # after pruning, to shrink the file
  {p} store encrypt --key-file keys
)";

const std::string_view kStorePrune =
    R"(Deletes threads whose runs have all ended, the last one long ago, with all of their rows. It
does not delete threads with a waiting run or with undelivered messages, preserved threads, and
notes, summaries and routines.

Examples:
  {p} store prune --dry-run
  {p} store prune --older-than 90d
)";

const std::string_view kCheck =
    R"(Reads the whole store and checks every rule. Exit code 1 if a rule is violated.

Example:
  {p} check
)";

const std::string_view kModels =
    R"(Queries the servers of the configured models; without a model, Ollama on this machine and the
providers that a key is set for. Only `try` requests tokens from a model. Exit code 1 if a
configured model is unavailable, 2 if none is configured.

Examples:
  {p} models list
  {p} models check --model ollama:llama3.2
  OPENAI_API_KEY=... {p} models try --model openai:gpt-4o-mini
  {p} models try --model openai:local --model-url http://127.0.0.1:8080/v1
)";

const std::string_view kModelSettings =
    R"(  BELAY_MODEL             the model: ollama:NAME, openai:NAME or anthropic:NAME; several,
                          comma-separated, are tried in turn
  BELAY_MODEL_URL         its server, if it is not the provider's default
  OPENAI_API_KEY, ANTHROPIC_API_KEY, OLLAMA_API_KEY, OLLAMA_HOST
                          keys, and the address of Ollama; see docs/configuration.md
)";

const std::string_view kDoctor =
    R"(Inspects the store and changes nothing. Exit code 6 if the store cannot be used.

Example:
  {p} doctor --store sqlite:/var/lib/belay/belay.db
)";

const std::string_view kStoreEncrypt =
    R"help(Encrypts values that were stored before a key was set. Other processes can continue
meanwhile, with the same key file and BELAY_ACCEPT_PLAIN=true; restart them without that setting
afterwards. The command can be stopped and repeated.

Example:
  (umask 077; echo "k1:$(head -c 32 /dev/urandom | base64)" > keys)
  {p} store encrypt --key-file keys
)help";

const std::string_view kStoreRotate =
    R"(Add the new key as the first line, restart every process with the new file, then rotate.
Afterwards the other keys can be removed; belay doctor lists the keys that are still in use. Keep a
key as long as a backup needs it.

Example:
  {p} store rotate --key-file keys
)";

const std::string_view kCompletions =
    R"(Prints a script that completes commands, options, and the names of threads, approvals and
agents. Names are read from the store or the server, within 200 ms.

Examples:
  source <({p} completions bash)          # for this shell; in ~/.bashrc for every shell
  {p} completions zsh > ~/.zfunc/_{p}
  {p} completions fish > ~/.config/fish/completions/{p}.fish
)";

const std::string_view kManual = R"(Prints the manual page of the whole program, for man(1).

Example:
  {p} man | man -l -
)";

}  // namespace belay::cli::help
