#include "tests/redis/certificates.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>

namespace belay::tests {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Extension = std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)>;

void require(bool worked) {
  if (worked) return;
  std::fputs("OpenSSL makes no certificate\n", stderr);
  std::abort();
}

void add(X509* certificate, int kind, const std::string& value) {
  Extension extension(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()),
                      &X509_EXTENSION_free);
  require(extension && X509_add_ext(certificate, extension.get(), -1) == 1);
}

void set_names(X509* certificate, const char* common_name, const X509_NAME* issuer) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  const auto* bytes = reinterpret_cast<const unsigned char*>(common_name);
  require(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, bytes, -1, -1, 0) == 1);
  require(X509_set_issuer_name(certificate, issuer ? issuer : subject) == 1);
}

void fill(X509* certificate, EVP_PKEY* key, int number, Validity validity) {
  require(X509_set_version(certificate, X509_VERSION_3) == 1);
  require(ASN1_INTEGER_set(X509_get_serialNumber(certificate), number) == 1);
  require(X509_gmtime_adj(X509_getm_notBefore(certificate), validity.from.count()) != nullptr);
  require(X509_gmtime_adj(X509_getm_notAfter(certificate), validity.until.count()) != nullptr);
  require(X509_set_pubkey(certificate, key) == 1);
}

void keep(const std::string& file, X509* certificate) {
  Bio out(BIO_new_file(file.c_str(), "w"), &BIO_free);
  require(out && PEM_write_bio_X509(out.get(), certificate) == 1);
}

}  // namespace

Authority::Authority() : key_(EVP_EC_gen("P-256"), &EVP_PKEY_free), own_(X509_new(), &X509_free) {
  std::string path = std::filesystem::temp_directory_path() / "belay-authority-XXXXXX";
  folder_ = ::mkdtemp(path.data());
  file_ = folder_ + "/authority.pem";
  require(key_ && own_);
  fill(own_.get(), key_.get(), ++issued_, {});
  set_names(own_.get(), "an authority of a test", nullptr);
  add(own_.get(), NID_basic_constraints, "critical,CA:TRUE");
  require(X509_sign(own_.get(), key_.get(), EVP_sha256()) > 0);
  keep(file_, own_.get());
}

Authority::~Authority() { std::filesystem::remove_all(folder_); }

Certificate Authority::issue(const std::string& names, Validity validity) {
  Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  Signed made(X509_new(), &X509_free);
  require(key && made);
  fill(made.get(), key.get(), ++issued_, validity);
  set_names(made.get(), "a server of a test", X509_get_subject_name(own_.get()));
  add(made.get(), NID_subject_alt_name, names);
  require(X509_sign(made.get(), key_.get(), EVP_sha256()) > 0);
  std::string path = folder_ + "/" + std::to_string(issued_);
  Certificate issued{path + ".pem", path + ".key"};
  keep(issued.file, made.get());
  Bio out(BIO_new_file(issued.key_file.c_str(), "w"), &BIO_free);
  require(out && PEM_write_bio_PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                          nullptr) == 1);
  return issued;
}

}  // namespace belay::tests
