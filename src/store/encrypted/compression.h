#pragma once
// store/encrypted/compression.h - zstd with reused contexts. Not thread-safe.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "belay/limits.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace belay::encrypted {

// The maximum contents of a frame: larger ones are neither written nor accepted.
inline constexpr std::size_t kFrameBytesMax = limits::value_bytes_max + (1u << 20);

class Compression {
 public:
  // Appends `data` to `out` as one frame with a checksum and returns true, if the frame has at most
  // nine tenths of the size.
  bool compress(std::string_view data, std::string& out);

  // Appends the contents of the frame to `out`; false if `frame` is not exactly one valid frame.
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
