#pragma once
// tests/scenario/external_world.h - the world outside of the scenarios' agents, as files
//
// The files are in the folder that SCENARIO_FOLDER names. They outlive every process: a script can
// kill processes at any time.
//
//     ran             a line for each execution of a node: its name
//     calls-EFFECT    a line for each call of an effect: its key
//     mail-TOPIC      a line for each received message: its id
//     fails-TOPIC     a line for each message that must be rejected
//     model           the model's replies, one per line
//     asked           a line for each model request
//     hold-PLACE      code that reaches this place waits while this file exists,
//     held-PLACE      and creates this file before
//
// Threading: the event loop's.

#include <belay/belay.hpp>
#include <string>

namespace belay::scenario {

// Records the execution of a node and returns the number of executions so far.
int note_run(const std::string& node);

// Waits while the script holds this place; otherwise returns immediately.
Task<Done> stand_still(std::string place);

// Records a call of an effect as its receiver, in one write: a kill cannot split it.
void note_call(const std::string& effect, const std::string& key);
// Returns whether the receiver has recorded such a call.
bool was_called(const std::string& effect, const std::string& key);

// Receives a message of its topic, or rejects it.
Task<Result<Done>> take_message(OutboxMessage message);

// Returns a model with the replies of the script; it fails when they are used up.
std::shared_ptr<Model> scripted_model();

}  // namespace belay::scenario
