// The only file of this folder that includes ICU.

#include <unicode/timezone.h>

#include <utility>

#include "belay/clock.h"

namespace belay {
namespace {

bool is_utc(const icu::UnicodeString& canonical) {
  return canonical == UNICODE_STRING_SIMPLE("Etc/UTC") ||
         canonical == UNICODE_STRING_SIMPLE("Etc/GMT") ||
         canonical == UNICODE_STRING_SIMPLE("Etc/UCT");
}

}  // namespace

struct TimeZone::Rules {
  std::unique_ptr<const icu::TimeZone> zone;
};

TimeZone::TimeZone() : name_("UTC") {}
TimeZone::TimeZone(std::string name, std::shared_ptr<const Rules> rules)
    : name_(std::move(name)), rules_(std::move(rules)) {}

std::optional<TimeZone> TimeZone::named(std::string_view name) {
  auto length = static_cast<std::int32_t>(std::min<std::size_t>(name.size(), 200));
  auto id = icu::UnicodeString::fromUTF8(icu::StringPiece(name.data(), length));
  UErrorCode status = U_ZERO_ERROR;
  icu::UnicodeString canonical;
  UBool is_listed = false;
  icu::TimeZone::getCanonicalID(id, canonical, is_listed, status);
  // Not in the list: offsets such as "GMT+2", which have no daylight saving time.
  if (U_FAILURE(status) || !is_listed) return std::nullopt;
  if (is_utc(canonical)) return TimeZone();
  std::unique_ptr<const icu::TimeZone> zone(icu::TimeZone::createTimeZone(id));
  if (!zone || *zone == icu::TimeZone::getUnknown()) return std::nullopt;
  auto rules = std::make_shared<const Rules>(Rules{std::move(zone)});
  return TimeZone(std::string(name), std::move(rules));
}

TimeZone TimeZone::of_machine() {
  std::unique_ptr<const icu::TimeZone> zone(icu::TimeZone::detectHostTimeZone());
  if (!zone) return TimeZone();
  icu::UnicodeString id;
  std::string name;
  zone->getID(id).toUTF8String(name);
  if (auto listed = named(name)) return *std::move(listed);
  // TZ might be a POSIX rule such as "<+03>-3": ICU converts it to an offset.
  if (*zone == icu::TimeZone::getUnknown()) return TimeZone();
  auto rules = std::make_shared<const Rules>(Rules{std::move(zone)});
  return TimeZone(std::move(name), std::move(rules));
}

std::string TimeZone::text_of(Instant instant) const {
  Instant local = instant;
  if (rules_) {
    std::int32_t raw = 0;
    std::int32_t summer = 0;
    UErrorCode status = U_ZERO_ERROR;
    auto since_epoch = std::chrono::floor<milliseconds>(instant.time_since_epoch());
    rules_->zone->getOffset(static_cast<UDate>(since_epoch.count()), false, raw, summer, status);
    if (U_SUCCESS(status)) local += milliseconds(raw + summer);
  }
  std::string text = to_text(local);  // 2026-11-22T00:54:00.123456Z
  text[10] = ' ';
  text.pop_back();
  return text;
}

std::string TimeZone::day_of(Instant instant) const { return text_of(instant).substr(0, 10); }

}  // namespace belay
