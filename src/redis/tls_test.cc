// A TLS session without a socket.

#include "redis/tls.h"

#include <gtest/gtest.h>

namespace belay::redis {
namespace {

TEST(TlsSessions, ThatHaveFailedAnswerEverythingWithTheError) {
  auto trust = TlsTrust::load("").value();
  auto session = TlsSession::begin(trust, "localhost").value();
  session.send("PING");
  EXPECT_NE(session.take_out().value(), "") << "the handshake's first message";
  session.feed("-NOAUTH Authentication required.\r\n");
  ASSERT_TRUE(session.has_failed());
  auto out = session.take_out();
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().code, ErrorCode::invalid);
  EXPECT_NE(out.error().message.find("does not use TLS"), std::string::npos) << out.error().message;
  session.feed("\x16\x03\x03");
  auto in = session.take_in();
  ASSERT_FALSE(in.ok());
  EXPECT_EQ(in.error().message, out.error().message);
}

}  // namespace
}  // namespace belay::redis
