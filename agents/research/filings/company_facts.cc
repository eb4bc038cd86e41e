#include "agents/research/filings/company_facts.h"

#include <array>
#include <tuple>

namespace belay::research {
namespace {

constexpr std::string_view kAmendment = "/A";

std::string_view without_amendment(std::string_view form) {
  if (form.ends_with(kAmendment)) form.remove_suffix(kAmendment.size());
  return form;
}

}  // namespace

bool is_earlier(const Fact& a, const Fact& b) {
  // The form only makes the order total.
  return std::tie(a.filed, a.accn, a.start, a.value, a.form) <
         std::tie(b.filed, b.accn, b.start, b.value, b.form);
}

bool is_annual_form(std::string_view form) {
  constexpr std::array<std::string_view, 4> kAnnual = {"10-K", "10-KT", "20-F", "40-F"};
  std::string_view name = without_amendment(form);
  for (std::string_view each : kAnnual) {
    if (name == each) return true;
  }
  return false;
}

bool is_amended_annual(std::string_view form) {
  return form.ends_with(kAmendment) && is_annual_form(form);
}

bool is_proxy_form(std::string_view form) {
  return form.starts_with("DEF") || form.starts_with("PRE");
}

}  // namespace belay::research
