#pragma once
// belay/limits.h - every bound in the system, named, with its unit. Input beyond a bound is refused
// with `invalid` and a message that names the bound; nothing is cut silently.

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace belay::limits {

using std::chrono::hours;
using std::chrono::milliseconds;

inline constexpr std::size_t json_depth_max = 64;                // nested arrays and objects
inline constexpr std::size_t document_depth_max = 72;            // Belay's own, around such values
inline constexpr std::size_t value_bytes_max = 64u << 20;        // one channel's JSON text
inline constexpr std::size_t record_bytes_max = 1u << 20;        // one record's JSON text
inline constexpr std::size_t identifier_bytes_max = 200;         // thread, user, record key
inline constexpr std::size_t comment_bytes_max = 10'000;         // a decision's comment
inline constexpr std::size_t state_members_max = 32;             // members of a state type
inline constexpr std::size_t json_channels_max = 1'000;          // channels of a JSON graph
inline constexpr std::size_t graph_nodes_max = 1'000;            // nodes of one graph
inline constexpr std::size_t supersteps_max = 10'000;            // of one run: stops runaway cycles
inline constexpr std::size_t superstep_tasks_max = 100'000;      // of one superstep
inline constexpr std::size_t parallel_tasks_default = 128;       // that run at the same time
inline constexpr std::size_t page_rows_max = 1'000;              // rows of one read
inline constexpr std::size_t commit_queue_max = 4'096;           // commits waiting for the writer
inline constexpr std::size_t commit_batch_max = 1'024;           // commits in one transaction
inline constexpr std::size_t commit_batch_bytes_max = 1u << 20;  // bytes in one transaction
inline constexpr std::size_t blocking_threads_max = 4;           // threads of the blocking pool
inline constexpr std::size_t blocking_queue_max = 1'024;         // calls waiting for that pool
inline constexpr std::int64_t output_tokens_default = 4'096;     // of a call on a budget
inline constexpr milliseconds busy_retry_after{1'000};           // when a limit asks to come again
inline constexpr std::size_t deliveries_max = 16;                // of messages, at the same time
inline constexpr std::int64_t lost_claims_max = 5;               // then a run is quarantined
inline constexpr milliseconds owner_watch_interval{500};         // a working run asks: still mine?
inline constexpr hours approval_expiry_default{24};
inline constexpr hours thread_idle_max{24 * 7};  // then it can't be resumed

}  // namespace belay::limits
