#pragma once
// wellbeing/records.h - the records of the wellbeing agents: the notes and fixed events that they
// read, and the summaries and routines that they save.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "belay/clock.h"

namespace belay::wellbeing {

// One note of a day. `date` is the day in its writer's time zone, YYYY-MM-DD.
struct Note {
  static constexpr std::string_view collection = "notes";

  std::string id;
  std::string date;
  std::string content;
  Instant createdAt{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple{&Note::date}; }
};

// An appointment, whose time a routine must keep.
struct FixedEvent {
  static constexpr std::string_view collection = "fixed_events";

  std::string id;
  std::string date;
  std::string time;  // HH:MM
  std::string activity;
  int minutes = 60;

  std::string key() const { return id; }
  static auto indexed() { return std::tuple{&FixedEvent::date}; }
  friend bool operator==(const FixedEvent&, const FixedEvent&) = default;
};

// A saved audit. There is one per day: a later one replaces it.
struct DailySummary {
  static constexpr std::string_view collection = "daily_summaries";

  std::string date;
  std::string threadId;
  std::string summary;
  std::optional<int> riskLevel = std::nullopt;  // unset if not assessed, which is not a low risk
  std::vector<std::string> keyInsights = {};
  bool assessed = false;
  std::string language;  // of the texts below: "en" or "es"
  std::string provider;
  std::string model;
  std::string method;  // "rules", "language_model", ...; "none" if no model was called
  std::string notice;
  std::string disclaimer;
  std::string localHelp;
  std::optional<int> modelRiskLevel = std::nullopt;  // before the crisis floor raised it
  std::vector<std::string> crisisWords = {};
  std::vector<std::string> remarks = {};
  Instant createdAt{};

  std::string key() const { return date; }
  static auto indexed() { return std::tuple{&DailySummary::date}; }
};

struct Activity {
  std::string time;  // HH:MM
  std::string activity;
  std::string expectedBenefit;
  friend bool operator==(const Activity&, const Activity&) = default;
};

// A saved routine. There is one per day: a later one replaces it.
struct Routine {
  static constexpr std::string_view collection = "routines";

  std::string date;
  std::string threadId;
  std::vector<Activity> activities = {};
  std::string language;
  std::string provider;
  std::string model;
  std::string method;
  std::string notice;
  std::string disclaimer;
  std::string localHelp;
  std::vector<std::string> remarks = {};
  Instant createdAt{};

  std::string key() const { return date; }
  static auto indexed() { return std::tuple{&Routine::date}; }
};

}  // namespace belay::wellbeing
