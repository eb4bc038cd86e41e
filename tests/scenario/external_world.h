#pragma once
// tests/scenario/external_world.h - the world outside the scenarios' agents, as files in the folder
// that SCENARIO_FOLDER names: who was called and how often, what the model is to say, whom to fail,
// and where to stand still. It outlives every process, so a script can kill them as it likes.
//
//     ran             a line for each time that a node's code ran: its name
//     calls-EFFECT    a line for each call of an effect: its key
//     mail-TOPIC      a line for each message that came: its id
//     fails-TOPIC     a line for each message that is to be turned away
//     model           what the model says, an answer a line
//     asked           a line for each time that it was asked
//     hold-PLACE      whoever comes there stands still while this file exists,
//     held-PLACE      and has made this one
//
// Threading: the event loop's.

#include <belay/belay.hpp>
#include <string>

namespace belay::scenario {

// Notes that a node's code runs; how often any has by now.
int note_run(const std::string& node);

// Stands still where the script says so; at once otherwise.
Task<Done> stand_still(std::string place);

// A call of an effect, as its receiver sees it: noted in one write, so that no kill tears it.
void note_call(const std::string& effect, const std::string& key);
// Whether such a call has come.
bool was_called(const std::string& effect, const std::string& key);

// Takes the messages of its topic, or turns them away.
Task<Result<Done>> take_message(OutboxMessage message);

// Answers what the script says, and nothing once that is used up.
std::shared_ptr<Model> scripted_model();

}  // namespace belay::scenario
