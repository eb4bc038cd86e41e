#pragma once

#include <belay/belay.hpp>

// Answers questions about orders, and refunds an order once a person has approved it.
belay::Result<belay::Graph<belay::AgentState>> support_agent();
