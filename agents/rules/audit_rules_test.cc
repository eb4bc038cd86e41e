#include "agents/rules/audit_rules.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <chrono>

#include "agents/rules/hits.h"
#include "agents/rules/insights.h"
#include "agents/rules/sentences.h"
#include "agents/rules/summary.h"
#include "belay/value.h"

namespace belay::rules {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

AuditFindings of(std::string note) { return analyse({std::move(note)}); }

int level_of(std::string note) { return of(std::move(note)).risk_level; }

const Insight* insight(const AuditFindings& findings, Category category) {
  for (const Insight& each : findings.insights) {
    if (each.category == category) return &each;
  }
  return nullptr;
}

TEST(AuditRules, ACalmDayIsLevelOne) {
  EXPECT_EQ(level_of("A lovely walk with my sister, then we cooked. I felt calm and happy."), 1);
  EXPECT_EQ(level_of("Hoy fue un buen día: paseo con mi hermana y cena tranquila."), 1);
}

TEST(AuditRules, AnInsightQuotesThreeMentionsOfSixtyCharactersAtMost) {
  Insight insight;
  insight.count = 4;
  const std::string longest(60, 'a');
  for (const std::string& quote : {longest, longest + "a", "sad"s, "low"s}) {
    insight.evidence.emplace_back().quote = quote;
  }
  const std::string text = insight_text(insight, Language::en);
  EXPECT_THAT(text, HasSubstr("“" + longest + "”")) << "sixty are shown whole";
  EXPECT_EQ(text.find(longest + "a"), text.npos) << "sixty-one are cut";
  EXPECT_THAT(text, HasSubstr("“sad”"));
  EXPECT_EQ(text.find("“low”"), text.npos) << "the fourth is counted only";
}

TEST(AuditRules, BurdensRaiseTheLevelAndMoreBurdensRaiseItMore) {
  const int one = level_of("I was tired today.");
  const int two = level_of("I was tired today. I cried and I felt hopeless.");
  const int many = level_of(
      "I slept two hours. I am exhausted, I cried all day, I feel hopeless and completely alone. "
      "A huge fight with my brother, and a panic attack on the train.");
  EXPECT_GT(one, 1);
  EXPECT_GT(two, one);
  EXPECT_EQ(many, 7);
}

TEST(AuditRules, WithoutACrisisPhraseTheLevelNeverPassesSeven) {
  std::string note;
  for (int i = 0; i < 50; ++i) note += "I feel hopeless, worthless and exhausted. ";
  EXPECT_EQ(level_of(note), 7);
}

TEST(AuditRules, ANegatorTurnsABurdenIntoARelief) {
  EXPECT_LT(level_of("I was not anxious and not sad about it."), 2);
  EXPECT_LT(level_of("Ya no estoy triste, y sin ansiedad."), 2);
}

TEST(AuditRules, ANegatorTurnsAGoodThingIntoABurden) {
  const AuditFindings findings = of("I was not happy with any of it.");
  ASSERT_NE(insight(findings, Category::low_mood), nullptr);
  EXPECT_EQ(insight(findings, Category::low_mood)->evidence[0].quote, "not happy");
  EXPECT_EQ(insight(findings, Category::positive), nullptr);
}

TEST(AuditRules, ANegatorDoesNotReachOverPunctuationOrBut) {
  EXPECT_NE(insight(of("I did not go, sad as ever."), Category::low_mood), nullptr);
  EXPECT_NE(insight(of("It was not far but sad."), Category::low_mood), nullptr);
}

TEST(AuditRules, AnIntensifierWeighsMore) {
  EXPECT_GT(of("I am very sad about it.").burden, of("I am sad about it.").burden);
  EXPECT_LT(of("Estoy un poco triste.").burden, of("Estoy muy triste.").burden);
}

TEST(AuditRules, AnIdiomDoesNotCountAsWhatItsWordsSay) {
  EXPECT_EQ(insight(of("No worries, I said to him, and we went on."), Category::anxiety), nullptr);
  EXPECT_EQ(insight(of("Menos mal que no pasa nada."), Category::anxiety), nullptr);
}

TEST(AuditRules, TheLongestPhraseWins) {
  const AuditFindings findings = of("No puedo dormir desde que me lo dijo.");
  ASSERT_NE(insight(findings, Category::sleep), nullptr);
  EXPECT_EQ(insight(findings, Category::sleep)->evidence[0].quote, "No puedo dormir");
}

double hours(std::string_view text) {
  const Words words = words_of(text);
  for (std::size_t at = 0; at < words.tokens.size(); ++at) {
    if (const auto found = sleep_hours_at(words, at, words.tokens.size())) {
      return found->awake ? -found->hours : found->hours;
    }
  }
  return 0;
}

TEST(SleepHours, AreReadInBothLanguagesAsWordsAndDigits) {
  EXPECT_EQ(hours("I slept four hours."), 4);
  EXPECT_EQ(hours("slept barely 3 hours"), 3);
  EXPECT_EQ(hours("I only slept for about five and a half hours"), 5.5);
  EXPECT_EQ(hours("four hours of sleep again"), 4);
  EXPECT_EQ(hours("slept 4h"), 4);
  EXPECT_EQ(hours("Dormí 4 horas."), 4);
  EXPECT_EQ(hours("dormi apenas tres horas"), 3);
  EXPECT_EQ(hours("He dormido solo cinco horas y media"), 5.5);
  EXPECT_EQ(hours("cuatro horas de sueño"), 4);
  EXPECT_EQ(hours("Dormí 4,5 horas"), 4.5);
  EXPECT_EQ(hours("dormí tres o cuatro horas"), 3.5);
}

TEST(SleepHours, WithoutSleepAreWakingHours) {
  EXPECT_EQ(hours("llevo 30 horas sin dormir"), -30);
  EXPECT_EQ(hours("I have not slept for 30 hours"), -30);
}

TEST(SleepHours, OtherHoursAreNotSleep) {
  EXPECT_EQ(hours("I slept badly, then worked ten hours"), 0);
  EXPECT_EQ(hours("trabajé diez horas"), 0);
  EXPECT_EQ(hours("slept. Four hours later he came"), 0);
}

TEST(SleepHours, FewWeighAsABurdenAndEnoughAsARelief) {
  EXPECT_GT(of("Last night I slept three hours.").burden,
            of("Last night I slept five hours.").burden);
  EXPECT_GT(of("Last night I slept eight hours.").relief, 0);
}

TEST(LanguageVote, TellsEnglishFromSpanish) {
  EXPECT_EQ(of("I went to the market with my sister.").language, Language::en);
  EXPECT_EQ(of("Fui al mercado con mi hermana.").language, Language::es);
}

TEST(LanguageVote, ShortNotesFollowTheLexiconOrTheOtherNotes) {
  EXPECT_EQ(of("Agotada.").language, Language::es);
  EXPECT_EQ(of("Exhausted.").language, Language::en);
  EXPECT_EQ(analyse({"Fui al mercado con mi hermana.", "Insomnio."}).language, Language::es);
}

TEST(LanguageVote, OtherLanguagesAreNotAssessed) {
  for (const char* note :
       {"Je suis très fatiguée aujourd'hui et je ne veux pas sortir de la maison avec les autres.",
        "Ich bin heute sehr müde und habe nicht gut geschlafen, aber es ist nicht schlimm.",
        "Hoje estou muito cansada e não dormi bem, mas vou trabalhar com os meus amigos.",
        "Сегодня я очень устал и не спал.", "今日はとても疲れました。"}) {
    const AuditFindings findings = of(note);
    EXPECT_FALSE(findings.assessed) << note;
    EXPECT_EQ(findings.risk_level, 0) << note;
    EXPECT_FALSE(findings.summary.empty()) << note;
  }
}

TEST(LanguageVote, EmptyTextIsNotAssessed) {
  for (const char* note : {"", "   \n\t", "...", "!!!"}) {
    EXPECT_FALSE(of(note).assessed) << note;
    EXPECT_EQ(of(note).risk_level, 0) << note;
  }
  EXPECT_FALSE(analyse({}).assessed);
}

TEST(LanguageVote, AForeignNoteAmongOthersIsNamedAsUnread) {
  const AuditFindings findings =
      analyse({"I went to the market with my sister, and I was tired.",
               "Ich bin heute sehr müde und habe nicht gut geschlafen."});
  EXPECT_TRUE(findings.assessed);
  EXPECT_THAT(findings.unread_notes, testing::ElementsAre(1));
}

TEST(Insights, QuoteTheWordsWithTheirPlace) {
  const std::string note = "Café first. I was worn out — really worn out.";
  const AuditFindings findings = of(note);
  const Insight* found = insight(findings, Category::exhaustion);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->text, "Exhaustion, 2 mentions: “worn out”.");
  for (const Evidence& evidence : found->evidence) {
    EXPECT_EQ(note.substr(evidence.span.begin, evidence.span.end - evidence.span.begin),
              evidence.quote);
  }
}

TEST(Insights, AreInTheTextsLanguage) {
  const AuditFindings findings = of("Estoy agotada y sin fuerzas.");
  ASSERT_FALSE(findings.insights.empty());
  EXPECT_EQ(findings.insights[0].text, "Agotamiento, 2 menciones: «agotada», «sin fuerzas».");
}

TEST(Insights, CrisisComesBeforeAll) {
  const AuditFindings findings =
      of("I am exhausted, sad, lonely, hopeless, miserable. Sometimes I want to die.");
  ASSERT_FALSE(findings.insights.empty());
  EXPECT_EQ(findings.insights[0].category, Category::crisis);
  EXPECT_THAT(findings.summary, HasSubstr("I want to die."));
}

TEST(Summary, IsTheHeaviestSentencesVerbatimInTheirOrder) {
  const AuditFindings findings =
      of("We had soup. I cried all night. The bus was blue. I feel hopeless. Nothing else.");
  EXPECT_EQ(findings.summary, "I cried all night. I feel hopeless.");
}

TEST(Summary, IsTheFirstSentencesWhenNothingScores) {
  EXPECT_EQ(of("The bus was blue. It came at four.").summary, "The bus was blue. It came at four.");
}

TEST(Summary, KnowsAbbreviations) {
  const std::string text = "Hablé con el Sr. García de la casa. Luego volví.";
  EXPECT_EQ(sentences_of(text, Language::es).size(), 2u);
}

TEST(Summary, AHardWrapIsNotAParagraph) {
  const std::string text = readable("I want to\ndie. And then\n\nA new one");
  EXPECT_EQ(sentences_of(text, Language::en).size(), 3u);
  EXPECT_EQ(level_of("I want to\ndie."), 9);
  EXPECT_EQ(level_of("I want to\r\ndie."), 9);
}

TEST(Summary, ALongSentenceIsCutAroundWhatWasFound) {
  std::string note;
  for (int i = 0; i < 80; ++i) note += "and the road went on ";
  note += "until I was utterly exhausted";
  for (int i = 0; i < 80; ++i) note += " and the road went on";
  const std::string summary = of(note).summary;
  EXPECT_THAT(summary, HasSubstr("exhausted"));
  EXPECT_LE(code_points(summary), kSummaryCodePointsMax);
}

TEST(Summary, NeverSplitsACodePointNorPassesItsLimit) {
  EXPECT_TRUE(rc::check([] {
    const auto pieces = *rc::gen::container<std::vector<std::string>>(
        rc::gen::element<std::string>("año", "triste", "😀", "e\u0301", "👨‍👩‍👧", " ",
                                      ". ", "漢字", "ñ", "I was ", "\n", "\n\n"));
    const auto times = *rc::gen::inRange(1, 60);
    std::string note;
    for (int i = 0; i < times; ++i) {
      for (const std::string& piece : pieces) note += piece;
    }
    const AuditFindings findings = analyse({note});
    RC_ASSERT(!first_invalid_utf8(findings.summary).has_value());
    RC_ASSERT(code_points(findings.summary) <= kSummaryCodePointsMax);
    for (const Insight& each : findings.insights) {
      RC_ASSERT(!first_invalid_utf8(each.text).has_value());
    }
  }));
}

TEST(AuditRules, AnyBytesAreTaken) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    const AuditFindings findings = analyse({bytes, "I am tired " + bytes});
    RC_ASSERT(findings.risk_level >= 0 && findings.risk_level <= 10);
    RC_ASSERT(!first_invalid_utf8(findings.summary).has_value());
    for (const Insight& each : findings.insights) {
      for (const Evidence& evidence : each.evidence) {
        RC_ASSERT(evidence.span.end <= bytes.size() + 11);
        RC_ASSERT(!first_invalid_utf8(evidence.quote).has_value());
      }
    }
  }));
}

TEST(AuditRules, InvalidBytesAndNulDoNotHideTheWordsAroundThem) {
  EXPECT_EQ(level_of("\xff\xfe I want to die \x80\0 ok"s), 9);
  EXPECT_EQ(level_of("I want\0to die"s), 9);
}

TEST(AuditRules, TheSameNotesGiveTheSameFindings) {
  const std::vector<std::string> notes = {"Dormí 4 horas y estoy agotada.", "I want to rest."};
  const AuditFindings first = analyse(notes);
  for (int i = 0; i < 5; ++i) {
    const AuditFindings again = analyse(notes);
    EXPECT_EQ(again.summary, first.summary);
    EXPECT_EQ(again.risk_level, first.risk_level);
    ASSERT_EQ(again.insights.size(), first.insights.size());
    for (std::size_t k = 0; k < first.insights.size(); ++k) {
      EXPECT_EQ(again.insights[k].text, first.insights[k].text);
    }
  }
}

// The bound is generous: a sanitised debug build on a busy machine passes it too. A release build
// takes a few hundred milliseconds.
TEST(AuditRules, TwoMegabytesAreReadInTime) {
  std::string prose;
  while (prose.size() < (2u << 20)) prose += "I was tired and the café was closed, so I went on. ";
  const std::string one_word(2u << 20, 'a');
  const std::string no_words(2u << 20, '\xff');
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(of(prose).assessed);
  EXPECT_FALSE(of(one_word).assessed);
  EXPECT_FALSE(of(no_words).assessed);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

}  // namespace
}  // namespace belay::rules
