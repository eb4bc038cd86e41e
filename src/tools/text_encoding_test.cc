#include "tools/text_encoding.h"

#include <gtest/gtest.h>

namespace belay::tools {
namespace {

using namespace std::string_literals;

std::string html_text(std::string bytes, std::string_view charset = "") {
  return utf8_of(std::move(bytes), charset, Markup::html);
}

TEST(TextEncoding, OfAContentTypeIsItsCharset) {
  EXPECT_EQ(charset_of("text/html; charset=UTF-8"), "utf-8");
  EXPECT_EQ(charset_of("text/html;CHARSET = \"Windows-1252\"; a=b"), "windows-1252");
  EXPECT_EQ(charset_of("text/html"), "");
  EXPECT_EQ(charset_of("charset/charset"), "");
}

TEST(TextEncoding, ReadsTheCharacterSetsOfThePast) {
  EXPECT_EQ(html_text("caf\xe9", "ISO-8859-1"), "caf\u00e9");
  // Pages that declare ISO-8859-1 use the characters of windows-1252.
  EXPECT_EQ(html_text("\x93quoted\x94 \x80", "iso-8859-1"), "\u201cquoted\u201d \u20ac");
  EXPECT_EQ(html_text("\x93quoted\x94", "windows-1252"), "\u201cquoted\u201d");
  EXPECT_EQ(html_text("\xcf\xf0\xe8\xe2\xe5\xf2", "cp1251"),
            "\u041f\u0440\u0438\u0432\u0435\u0442");
  EXPECT_EQ(html_text("\x83\x65\x83\x58\x83\x67", "Shift_JIS"), "\u30c6\u30b9\u30c8");
  EXPECT_EQ(html_text("\xc4\xe3\xba\xc3", "gb2312"), "\u4f60\u597d");
  EXPECT_EQ(html_text("a\0b\0"s, "utf-16le"), "ab");
}

TEST(TextEncoding, AByteOrderMarkPrecedesTheContentType) {
  EXPECT_EQ(html_text("\xef\xbb\xbf\xc3\xa9", "iso-8859-1"), "\u00e9");
  EXPECT_EQ(html_text("\xfe\xff\0a\0b"s, "utf-8"), "ab");
  EXPECT_EQ(html_text("\xff\xfe"s + "a\0"s, "utf-8"), "a");
}

TEST(TextEncoding, MarkupDeclaresItsCharset) {
  EXPECT_EQ(html_text("<meta charset=\"windows-1251\">\xcf"),
            "<meta charset=\"windows-1251\">\u041f");
  EXPECT_EQ(html_text("<META http-equiv=Content-Type content='text/html; charset=latin1'>\xe9"),
            "<META http-equiv=Content-Type content='text/html; charset=latin1'>\u00e9");
  EXPECT_EQ(html_text("<?xml version=\"1.0\" encoding=\"koi8-r\"?>\xcf"),
            "<?xml version=\"1.0\" encoding=\"koi8-r\"?>\u043e");
  // The header has precedence, and a comment declares nothing.
  EXPECT_EQ(html_text("<meta charset=windows-1251>\xe9", "latin1"),
            "<meta charset=windows-1251>\u00e9");
  EXPECT_EQ(html_text("<!-- <meta charset=koi8-r> -->\xe9"),
            "<!-- <meta charset=koi8-r> -->\u00e9");
  EXPECT_EQ(html_text("<meta charset=utf-16>\xc3\xa9"), "<meta charset=utf-16>\u00e9");
  EXPECT_EQ(utf8_of("<meta charset=koi8-r>\xe9", "", Markup::none), "<meta charset=koi8-r>\u00e9");
}

TEST(TextEncoding, WithoutADeclarationIsUtf8IfItIsValid) {
  EXPECT_EQ(html_text("\xc3\xa9"), "\u00e9");
  EXPECT_EQ(html_text("\xe9"), "\u00e9");
  EXPECT_EQ(html_text("\xc3\xa9", "no-such-charset"), "\u00e9");
  EXPECT_EQ(html_text("+ADw-script+AD4-", "utf-7"), "+ADw-script+AD4-");
}

TEST(TextEncoding, InvalidSequencesAndNulAreReplaced) {
  EXPECT_EQ(html_text("a\xff\xc3(b", "utf-8"), "a\ufffd\ufffd(b");
  EXPECT_EQ(html_text("a\0b"s, "utf-8"), "a\ufffdb");
  EXPECT_EQ(html_text("\xed\xa0\x80", "utf-8").find("\xed\xa0"), std::string::npos);
  EXPECT_EQ(html_text("", "utf-8"), "");
}

}  // namespace
}  // namespace belay::tools
