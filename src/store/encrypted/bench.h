#pragma once
// store/encrypted/bench.h - the working memory of a thread that encrypts and decrypts: contexts and
// a text buffer, reused by the next call. For envelope_sealer.cc and its parts.

#include "store/encrypted/cipher.h"
#include "store/encrypted/compression.h"
#include "store/encrypted/envelope_sealer.h"
#include "store/encrypted/macs.h"

namespace belay::encrypted {

struct EnvelopeSealer::Bench {
  explicit Bench(Random& random) : cipher(random) {}
  ~Bench() { forget(); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  // If a bench has grown beyond this for a large value, it releases the memory.
  static constexpr std::size_t scratch_bytes_max = 1u << 20;

  void forget() {
    overwrite(scratch.data(), scratch.size());
    scratch.clear();
    if (scratch.capacity() > scratch_bytes_max) scratch.shrink_to_fit();
  }

  Compression compression;
  Cipher cipher;
  Macs macs;
  std::string scratch;  // buffer for plain or compressed text
};

class EnvelopeSealer::Lease {
 public:
  // Maximum number of idle benches: about the number of concurrent readers and writers.
  static constexpr std::size_t idle_max = 8;

  explicit Lease(EnvelopeSealer& sealer) : sealer_(sealer) {
    std::lock_guard lock(sealer_.mutex_);
    if (sealer_.idle_.empty()) {
      bench_ = std::make_unique<Bench>(sealer_.random_);
      return;
    }
    bench_ = std::move(sealer_.idle_.back());
    sealer_.idle_.pop_back();
  }
  ~Lease() {
    bench_->forget();
    std::lock_guard lock(sealer_.mutex_);
    if (sealer_.idle_.size() < idle_max) sealer_.idle_.push_back(std::move(bench_));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  Bench& operator*() { return *bench_; }

 private:
  EnvelopeSealer& sealer_;
  std::unique_ptr<Bench> bench_;
};

}  // namespace belay::encrypted
