#include "tools/text_encoding.h"

#include <unicode/ucnv.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "base/trimmed.h"
#include "belay/value.h"
#include "net/ascii.h"

namespace belay::tools {
namespace {

// Names of the Encoding Standard, with those of ICU. Others are not used: in UTF-7 and the like,
// markup has a second spelling.
struct EncodingLabel {
  std::string_view label;
  const char* converter;
};
constexpr const char* utf_8 = "UTF-8";
constexpr const char* windows_1252 = "windows-1252";
constexpr EncodingLabel encoding_labels[] = {
    {"utf-8", utf_8},
    {"utf8", utf_8},
    {"unicode-1-1-utf-8", utf_8},
    {"iso-8859-1", windows_1252},
    {"iso8859-1", windows_1252},
    {"iso_8859-1", windows_1252},
    {"latin1", windows_1252},
    {"l1", windows_1252},
    {"ascii", windows_1252},
    {"us-ascii", windows_1252},
    {"cp1252", windows_1252},
    {"windows-1252", windows_1252},
    {"iso-8859-2", "iso-8859-2"},
    {"latin2", "iso-8859-2"},
    {"iso-8859-3", "iso-8859-3"},
    {"iso-8859-4", "iso-8859-4"},
    {"iso-8859-5", "iso-8859-5"},
    {"iso-8859-6", "iso-8859-6"},
    {"iso-8859-7", "iso-8859-7"},
    {"iso-8859-8", "iso-8859-8"},
    {"iso-8859-9", "windows-1254"},
    {"latin5", "windows-1254"},
    {"iso-8859-10", "iso-8859-10"},
    {"iso-8859-11", "windows-874"},
    {"tis-620", "windows-874"},
    {"windows-874", "windows-874"},
    {"iso-8859-13", "iso-8859-13"},
    {"iso-8859-14", "iso-8859-14"},
    {"iso-8859-15", "iso-8859-15"},
    {"latin9", "iso-8859-15"},
    {"windows-1250", "windows-1250"},
    {"cp1250", "windows-1250"},
    {"windows-1251", "windows-1251"},
    {"cp1251", "windows-1251"},
    {"windows-1253", "windows-1253"},
    {"windows-1254", "windows-1254"},
    {"windows-1255", "windows-1255"},
    {"windows-1256", "windows-1256"},
    {"windows-1257", "windows-1257"},
    {"windows-1258", "windows-1258"},
    {"koi8-r", "KOI8-R"},
    {"koi8-u", "KOI8-U"},
    {"macintosh", "macintosh"},
    {"ibm866", "IBM866"},
    {"cp866", "IBM866"},
    {"gb2312", "gb18030"},
    {"gbk", "gb18030"},
    {"gb18030", "gb18030"},
    {"big5", "Big5-HKSCS"},
    {"big5-hkscs", "Big5-HKSCS"},
    {"euc-jp", "EUC-JP"},
    {"shift_jis", "windows-31j"},
    {"shift-jis", "windows-31j"},
    {"sjis", "windows-31j"},
    {"windows-31j", "windows-31j"},
    {"euc-kr", "windows-949"},
    {"ks_c_5601-1987", "windows-949"},
    {"utf-16", "UTF-16LE"},
    {"utf-16le", "UTF-16LE"},
    {"utf-16be", "UTF-16BE"},
};

struct ByteOrderMark {
  std::string_view bytes;
  const char* converter;
};
constexpr ByteOrderMark byte_order_marks[] = {
    {"\xef\xbb\xbf", utf_8}, {"\xfe\xff", "UTF-16BE"}, {"\xff\xfe", "UTF-16LE"}};

// Declarations after this part of the markup are not read.
constexpr std::size_t declaration_bytes_max = 1'024;

const char* converter_named(std::string_view label) {
  std::string name = net::lower_case(trimmed(label));
  auto found = std::find_if(std::begin(encoding_labels), std::end(encoding_labels),
                            [&](const EncodingLabel& each) { return each.label == name; });
  return found == std::end(encoding_labels) ? nullptr : found->converter;
}

// Returns the value after `name`, "=" and an optional quote; "" without one.
std::string_view value_after(std::string_view text, std::string_view name) {
  while (true) {
    std::size_t at = text.find(name);
    if (at == text.npos) return {};
    text = trimmed(text.substr(at + name.size()));
    if (!text.starts_with('=')) continue;
    text = trimmed(text.substr(1));
    if (text.starts_with('"') || text.starts_with('\'')) text = trimmed(text.substr(1));
    return text.substr(0, text.find_first_of("\"'; \t\r\n/>?"));
  }
}

// Returns the converter that a <meta> element or an XML declaration names; null if none does.
const char* declared_converter(std::string_view bytes) {
  std::string head = net::lower_case(bytes.substr(0, declaration_bytes_max));
  std::string_view rest = trimmed(head);
  const char* found = nullptr;
  if (rest.starts_with("<?xml")) {
    found = converter_named(value_after(rest.substr(0, rest.find('>')), "encoding"));
  }
  while (!found) {
    std::size_t at = rest.find('<');
    if (at == rest.npos) return nullptr;
    rest.remove_prefix(at);
    bool is_comment = rest.starts_with("<!--");
    if (rest.starts_with("<meta")) {
      found = converter_named(value_after(rest.substr(0, rest.find('>')), "charset"));
    }
    std::size_t end = is_comment ? rest.find("-->") : 1;
    if (end == rest.npos) return nullptr;
    rest.remove_prefix(end);
  }
  // Markup that could be read as bytes is not UTF-16.
  return std::string_view(found).starts_with("UTF-16") ? utf_8 : found;
}

const char* converter_for(std::string& bytes, std::string_view charset, Markup markup) {
  for (const ByteOrderMark& mark : byte_order_marks) {
    if (!bytes.starts_with(mark.bytes)) continue;
    bytes.erase(0, mark.bytes.size());
    return mark.converter;
  }
  const char* converter = converter_named(charset);
  if (!converter && markup == Markup::html) converter = declared_converter(bytes);
  if (converter) return converter;
  return first_invalid_utf8(bytes) ? windows_1252 : utf_8;
}

std::string converted(std::string_view bytes, const char* name) {
  struct Close {
    void operator()(UConverter* converter) const { ucnv_close(converter); }
  };
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<UConverter, Close> converter(ucnv_open(name, &status));
  // A converter replaces invalid sequences by U+FFFD unless it is set to do otherwise.
  if (U_FAILURE(status) || bytes.size() > std::numeric_limits<std::int32_t>::max() / 4) return {};
  icu::UnicodeString text(bytes.data(), static_cast<std::int32_t>(bytes.size()), converter.get(),
                          status);
  std::string out;
  if (U_SUCCESS(status)) text.toUTF8String(out);
  return out;
}

std::string without_nul(std::string text) {
  if (text.find('\0') == text.npos) return text;
  std::string out;
  for (char c : text) {
    if (c == '\0') {
      out += "\ufffd";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string charset_of(std::string_view content_type) {
  std::size_t parameters = content_type.find(';');
  if (parameters == content_type.npos) return {};
  std::string lower = net::lower_case(content_type.substr(parameters));
  return std::string(value_after(lower, "charset"));
}

std::string utf8_of(std::string bytes, std::string_view charset, Markup markup) {
  std::string_view converter = converter_for(bytes, charset, markup);
  bool is_ready = converter == utf_8 && !first_invalid_utf8(bytes);
  return without_nul(is_ready ? std::move(bytes) : converted(bytes, converter.data()));
}

}  // namespace belay::tools
