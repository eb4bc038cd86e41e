#include <belay/belay.hpp>

struct Place {
  std::string city{};
};

int main(int argc, char** argv) {
  auto weather = belay::make_tool<Place>(
      {.name = "weather", .description = "Returns the weather in a city."},
      [](const Place& place, belay::ToolContext&) { return "Rain in " + place.city; });
  return belay::main(argc, argv, belay::agent_graph("forecast", {.tools = {weather}}));
}
