#pragma once
// store/envelope_subject.h - which row an envelope belongs to, as a text: what encryption binds its
// bytes to, so that an envelope moved to another row does not open.

#include <string>
#include <string_view>

#include "belay/rows.h"

namespace belay::store {

std::string subject_of(const ValueRow& value);
std::string subject_of(const TaskRow& task);
std::string subject_of(const EffectRow& effect);
std::string subject_of(const OutboxRow& message);
std::string subject_of_input(const RunId& run);
std::string subject_of_payload(const InterruptId& interrupt);
std::string subject_of_edited(const InterruptId& interrupt);
std::string subject_of_record(std::string_view collection, const UserId& user,
                              std::string_view key);
std::string subject_of_blob(const Digest& id);
// Of what is no envelope by itself: the next tasks of a checkpoint, and digests.
std::string subject_of_tasks(const CheckpointRow& checkpoint);
std::string subject_of_chain(const CheckpointRow& checkpoint);
bool is_subject_of_chain(std::string_view subject);
std::string subject_of_payload_hash(const InterruptId& interrupt);
std::string subject_of_edited_hash(const InterruptId& interrupt);

}  // namespace belay::store
