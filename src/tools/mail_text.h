#pragma once
// tools/mail_text.h - composes a mail from untrusted texts. No text can add a header, a recipient
// or a second mail: control characters are refused, and the body is encoded in base64.
// https://www.rfc-editor.org/rfc/rfc5322, rfc2045, rfc2047

#include <string>
#include <string_view>
#include <vector>

#include "belay/clock.h"
#include "belay/result.h"

namespace belay::tools {

inline constexpr std::size_t subject_characters_max = 250;
inline constexpr std::size_t recipients_max = 20;

struct MailText {
  std::string from;
  std::vector<std::string> to;
  std::string subject;
  std::string text;
};

// Accepts one address in ASCII, without a name, quotes or a comment, of at most 254 bytes.
bool is_mail_address(std::string_view address);

// Returns whether `address` is one of `permitted`: "ana@example.com", or "*@example.com" for all of
// a domain. Ignores the case.
bool is_permitted_recipient(std::string_view address, const std::vector<std::string>& permitted);

// Returns the mail with the headers From, To, Subject, Date, Message-ID and those of MIME. `id` is
// the local part of the Message-ID. Fails with `invalid` for a text that cannot be sent, naming it.
Result<std::string> mail_text(const MailText& mail, std::string_view id, Instant now);

}  // namespace belay::tools
