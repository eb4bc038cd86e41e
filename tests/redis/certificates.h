#pragma once
// tests/redis/certificates.h - creates a test's own certificates, as files in a temporary folder.

#include <chrono>
#include <memory>
#include <string>

struct evp_pkey_st;
struct x509_st;

namespace belay::tests {

// PEM files.
struct Certificate {
  std::string file;
  std::string key_file;
};

struct Validity {
  std::chrono::seconds from = std::chrono::hours(-48);
  std::chrono::seconds until = std::chrono::hours(48);
};

// A certificate authority. Its destructor removes its files.
class Authority {
 public:
  Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;
  ~Authority();

  const std::string& folder() const { return folder_; }
  const std::string& file() const { return file_; }  // its own certificate
  // `names`: "IP:127.0.0.1,DNS:localhost".
  Certificate issue(const std::string& names, Validity validity = {});

 private:
  using Key = std::unique_ptr<evp_pkey_st, void (*)(evp_pkey_st*)>;
  using Signed = std::unique_ptr<x509_st, void (*)(x509_st*)>;

  std::string folder_;
  std::string file_;
  Key key_;
  Signed own_;
  int issued_ = 0;
};

}  // namespace belay::tests
