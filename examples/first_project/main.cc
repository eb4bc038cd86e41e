#include "agent.h"

int main(int argc, char** argv) { return belay::main(argc, argv, support_agent()); }
