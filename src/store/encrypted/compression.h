#pragma once
// store/encrypted/compression.h - zstd with contexts that are used again. One thread at a time.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "belay/limits.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace belay::encrypted {

// No frame holds more: neither is one written, nor is one believed that claims to.
inline constexpr std::size_t kFrameBytesMax = limits::value_bytes_max + (1u << 20);

class Compression {
 public:
  // Appends `data` to `out` as one frame with a checksum, if that takes at most nine tenths of it.
  bool compress(std::string_view data, std::string& out);

  // Appends what the frame holds to `out`; false if `frame` is not exactly one sound frame.
  bool decompress(std::string_view frame, std::string& out);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> writing_;
  std::unique_ptr<ZSTD_DCtx_s, Free> reading_;
};

}  // namespace belay::encrypted
