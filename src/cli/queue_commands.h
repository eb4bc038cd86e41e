#pragma once
// cli/queue_commands.h - adds the commands and options of queues to the parser.

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/arguments.h"

namespace belay::cli {

using AddVerb = std::function<CLI::App*(CLI::App& parent, const char* name, const char* line,
                                        std::string_view end)>;

// All arguments must outlive `app`.
void add_queue_commands(CLI::App& app, const AddVerb& add, Queue& queue, Command& chosen);
void add_place_in_queue(CLI::App* run, RunAgent& into);
void add_queues_of_worker(CLI::App* worker, Work& into);
void add_name_of_worker(CLI::App* verb, Work& into);
void add_retention(CLI::App* verb, Work& into);
void add_drain_timeout(CLI::App* verb, Work& into);

}  // namespace belay::cli
