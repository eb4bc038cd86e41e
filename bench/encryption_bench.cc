// Measures the time to compress and encrypt one value and to read it back, and its stored size.

#include <cmath>
#include <cstdio>

#include "bench/machine.h"
#include "bench/options.h"
#include "store/encrypted/envelope_sealer.h"

namespace {

using namespace belay;
using namespace belay::bench;

constexpr double seconds_per_figure = 0.35;
const TenantId tenant{"local"};

// Generates text with the word frequencies of natural language: word n is 1/n as frequent as the
// first.
class Writer {
 public:
  explicit Writer(Random& random) : random_(random) {
    for (int i = 0; i < 4'000; ++i) words_.push_back(word());
  }

  std::string text(std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) {
      double share = static_cast<double>(random_.bits() >> 11) / 9007199254740992.0;
      auto at = static_cast<std::size_t>(std::pow(static_cast<double>(words_.size()), share));
      text += words_[at - 1];
      text += ' ';
    }
    text.resize(bytes);
    return text;
  }

 private:
  std::string word() {
    std::string word;
    for (std::size_t length = 2 + random_.bits() % 8; word.size() < length;) {
      word += "etaoinshrdlucmfwypvbgkeiaeo"[random_.bits() % 27];
    }
    return word;
  }

  Random& random_;
  std::vector<std::string> words_;
};

struct Way {
  const char* name;
  EncryptionOptions encryption;
};

std::vector<Way> ways() {
  EncryptionOptions as_it_is;
  as_it_is.compress = EncryptionOptions::Compress::never;
  EncryptionOptions compressed;
  EncryptionOptions encrypted;
  encrypted.keys = KeyRing::from_text("k1:" + std::string(64, 'a')).value();
  encrypted.compress = EncryptionOptions::Compress::never;
  EncryptionOptions both;
  both.keys = encrypted.keys;
  return {{"as it is", as_it_is},
          {"zstd, level 1", compressed},
          {"AES-256-GCM", encrypted},
          {"both", both}};
}

template <typename Work>
double cpu_us_each(int rounds, std::size_t count, const Work& work) {
  std::vector<double> figures;
  for (int i = 0; i < rounds; ++i) {
    std::size_t done = 0;
    double began = cpu_seconds();
    while (cpu_seconds() - began < seconds_per_figure / rounds) {
      for (std::size_t k = 0; k < count; ++k) work(k);
      done += count;
    }
    figures.push_back((cpu_seconds() - began) * 1e6 / static_cast<double>(done));
  }
  return median(std::move(figures));
}

void measure(const Options& options, const Way& way, std::size_t bytes, Random& random) {
  encrypted::EnvelopeSealer sealer(way.encryption, random);
  Writer writer(random);
  std::vector<std::string> plain;
  std::vector<std::string> stored;
  std::vector<BlobRow> blobs;
  std::size_t stored_bytes = 0;
  const std::string subject = "value 1ef0c1a2-0000-6000-8000-000000000000 0: 4:text 7 0 3:set";
  for (int i = 0; i < 256; ++i) {
    plain.push_back(json_envelope("\"" + writer.text(bytes - 2) + "\""));
    stored.push_back(plain.back());
    sealer.seal(tenant, subject, stored.back(), blobs).value();
    stored_bytes += stored.back().size();
  }
  auto seal = [&](std::size_t i) {
    std::string envelope = plain[i];
    if (!sealer.leaves_as_it_is(envelope)) sealer.seal(tenant, subject, envelope, blobs).value();
  };
  auto open = [&](std::size_t i) {
    std::string envelope = stored[i];
    if (!sealer.is_open(envelope)) sealer.open(tenant, subject, envelope).value();
  };
  std::printf("| %s | %zu | %.2f | %.2f | %.2f |\n", way.name, bytes,
              cpu_us_each(options.rounds, plain.size(), seal),
              cpu_us_each(options.rounds, plain.size(), open),
              static_cast<double>(stored_bytes) / static_cast<double>(plain.size() * bytes));
}

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  std::unique_ptr<Random> random = system_random();
  std::printf("%s\n\n", description().c_str());
  std::printf(
      "Text-like values on one core, %d rounds, medians; the copy of the value that each round "
      "makes is counted everywhere.\n\n| a value is stored | bytes | CPU us to seal | CPU us to "
      "open | stored, of its bytes |\n|---|---|---|---|---|\n",
      options.rounds);
  for (std::size_t bytes : {100, 200, 256, 350, 500, 1'000, 4'000, 16'000}) {
    for (const Way& way : ways()) measure(options, way, bytes, *random);
  }
}
