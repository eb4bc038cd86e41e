#include "belay/route.h"

#include <gtest/gtest.h>

namespace belay::server {
namespace {

std::string_view of(std::string_view header) { return accepted_language(header, {"en", "es"}); }

TEST(AcceptLanguage, TheGreatestWeightWinsWhateverTheOrder) {
  EXPECT_EQ(of("en;q=0.1, es;q=0.9"), "es");
  EXPECT_EQ(of("es;q=0.9,en"), "en");
  EXPECT_EQ(of("fr, es;q=0.200, en;q=0.199"), "es");
  EXPECT_EQ(of("en, es"), "en");
  EXPECT_EQ(of("es, en"), "es");
}

TEST(AcceptLanguage, ARegionCountsAsItsLanguageAndLettersOfAnyCase) {
  EXPECT_EQ(of("es-AR"), "es");
  EXPECT_EQ(of("EN-gb ; Q=0.5, fr"), "en");
  EXPECT_EQ(of("est, eno"), "") << "other languages that begin alike";
}

TEST(AcceptLanguage, WhatIsNotWantedOrCantBeReadNamesNone) {
  for (const char* header : {"", "*", "de", "en;q=0", "en;q=2", "en;q=x", "en;p=1", "en;q=0.5000",
                             ",,;", "en;q=0.;q=1"}) {
    EXPECT_EQ(of(header), "") << header;
  }
  EXPECT_EQ(of("en;q=0, es;q=0.001"), "es");
}

}  // namespace
}  // namespace belay::server
