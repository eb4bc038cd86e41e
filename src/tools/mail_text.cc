#include "tools/mail_text.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "base/characters.h"
#include "belay/value.h"
#include "net/ascii.h"
#include "tools/base64.h"

namespace belay::tools {
namespace {

constexpr std::size_t kAddressBytesMax = 254, kLocalBytesMax = 64, kLabelBytesMax = 63;
constexpr std::size_t kLineBytesMax = 76;
// Bytes of text in one encoded word, which has 64 characters, after "Subject: ": a line with an
// encoded word has at most 76.
constexpr std::size_t kWordBytesMax = 39;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_local_part(std::string_view part) {
  constexpr std::string_view others = "!#$%&'*+-/=?^_`{|}~.";
  auto allowed = [&](char c) { return is_letter_or_digit(c) || others.find(c) != others.npos; };
  return !part.empty() && part.size() <= kLocalBytesMax && part.front() != '.' &&
         part.back() != '.' && part.find("..") == part.npos &&
         std::all_of(part.begin(), part.end(), allowed);
}

bool is_domain(std::string_view domain) {
  int labels = 0;
  while (true) {
    std::string_view label = domain.substr(0, domain.find('.'));
    auto allowed = [](char c) { return is_letter_or_digit(c) || c == '-'; };
    bool sound = !label.empty() && label.size() <= kLabelBytesMax && label.front() != '-' &&
                 label.back() != '-' && std::all_of(label.begin(), label.end(), allowed);
    if (!sound) return false;
    ++labels;
    if (label.size() == domain.size()) break;
    domain.remove_prefix(label.size() + 1);
  }
  return labels > 1;
}

// Returns the subject as encoded words, each on its own line and of whole characters.
std::string encoded_subject(std::string_view subject) {
  std::string words;
  while (!subject.empty()) {
    std::size_t length = std::min(subject.size(), kWordBytesMax);
    while (length < subject.size() && length > 0 && (subject[length] & 0xC0) == 0x80) --length;
    if (!words.empty()) words += "\r\n ";
    words += "=?UTF-8?B?" + base64(subject.substr(0, length)) + "?=";
    subject.remove_prefix(length);
  }
  return words;
}

std::string encoded_body(std::string_view text) {
  std::string encoded = base64(text);
  std::string lines;
  for (std::size_t i = 0; i < encoded.size(); i += kLineBytesMax) {
    lines += encoded.substr(i, kLineBytesMax) + "\r\n";
  }
  return lines;
}

// "Thu, 01 Jan 2026 09:00:00 +0000", in any locale.
std::string date_of(Instant now) {
  static constexpr std::array days = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  auto two = [](int number) {
    std::string text = std::to_string(number);
    return text.size() < 2 ? "0" + text : text;
  };
  return std::string(days[static_cast<std::size_t>(parts.tm_wday)]) + ", " + two(parts.tm_mday) +
         " " + months[static_cast<std::size_t>(parts.tm_mon)] + " " +
         std::to_string(parts.tm_year + 1900) + " " + two(parts.tm_hour) + ":" + two(parts.tm_min) +
         ":" + two(parts.tm_sec) + " +0000";
}

Error refused(const std::string& why) { return error(ErrorCode::invalid, why); }

Result<Done> check_recipients(const MailText& mail) {
  if (mail.to.empty() || mail.to.size() > recipients_max) {
    return refused("A mail must have 1 to " + std::to_string(recipients_max) + " recipients.");
  }
  for (const std::string& address : mail.to) {
    if (!is_mail_address(address)) {
      return refused(
          "A recipient is not an address such as ana@example.com. Write one address in "
          "each element, without a name.");
    }
  }
  return Done{};
}

Result<Done> check(const MailText& mail) {
  if (!is_mail_address(mail.from)) return refused("The sender of the mail is not an address.");
  BELAY_CHECK(check_recipients(mail));
  if (first_invalid_utf8(mail.subject) || has_control(mail.subject)) {
    return refused("The subject of the mail contains a line end or another control character.");
  }
  if (characters_in(mail.subject) > subject_characters_max) {
    return refused("The subject of the mail has more than " +
                   std::to_string(subject_characters_max) + " characters.");
  }
  if (first_invalid_utf8(mail.text) || mail.text.find('\0') != mail.text.npos) {
    return refused("The text of the mail is not UTF-8, or contains a NUL.");
  }
  return Done{};
}

}  // namespace

bool is_mail_address(std::string_view address) {
  std::size_t at = address.find('@');
  if (at == address.npos || address.size() > kAddressBytesMax) return false;
  return is_local_part(address.substr(0, at)) && is_domain(address.substr(at + 1));
}

bool is_permitted_recipient(std::string_view address, const std::vector<std::string>& permitted) {
  std::string wanted = net::lower_case(address);
  return std::any_of(permitted.begin(), permitted.end(), [&](const std::string& entry) {
    std::string pattern = net::lower_case(entry);
    if (!pattern.starts_with("*@")) return wanted == pattern;
    return wanted.substr(wanted.find('@')) == pattern.substr(1);
  });
}

Result<std::string> mail_text(const MailText& mail, std::string_view id, Instant now) {
  BELAY_CHECK(check(mail));
  std::string to;
  for (const std::string& address : mail.to) {
    // One address a line: the longest has 254 bytes, and a line of a mail at most 998.
    if (!to.empty()) to += ",\r\n ";
    to += "<" + address + ">";
  }
  std::string domain = mail.from.substr(mail.from.find('@') + 1);
  return "From: <" + mail.from + ">\r\nTo: " + to +
         "\r\nSubject: " + encoded_subject(mail.subject) + "\r\nDate: " + date_of(now) +
         "\r\nMessage-ID: <" + std::string(id) + "@" + domain +
         ">\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
         "Content-Transfer-Encoding: base64\r\n\r\n" +
         encoded_body(mail.text);
}

}  // namespace belay::tools
