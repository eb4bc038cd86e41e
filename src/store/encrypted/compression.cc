#include "store/encrypted/compression.h"

#include <zstd.h>

#include "belay/result.h"

namespace belay::encrypted {
namespace {

constexpr int kLevel = 1;

}  // namespace

void Compression::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void Compression::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

bool Compression::compress(std::string_view data, std::string& out) {
  if (data.size() > kFrameBytesMax) return false;
  if (!writing_) {
    writing_.reset(ZSTD_createCCtx());
    BELAY_ASSERT(writing_ != nullptr);
    // If there is no key, only the checksum detects a changed bit.
    ZSTD_CCtx_setParameter(writing_.get(), ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(writing_.get(), ZSTD_c_checksumFlag, 1);
  }
  std::size_t before = out.size();
  std::size_t room = data.size() - data.size() / 10;
  out.resize(before + room);
  // If the frame does not fit, it saves too little space: not an error.
  std::size_t size =
      ZSTD_compress2(writing_.get(), out.data() + before, room, data.data(), data.size());
  bool fits = !ZSTD_isError(size);
  out.resize(before + (fits ? size : 0));
  return fits;
}

bool Compression::decompress(std::string_view frame, std::string& out) {
  unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > kFrameBytesMax) {
    return false;
  }
  // Rejects a second frame after the first: compress() never writes one.
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) return false;
  if (!reading_) {
    reading_.reset(ZSTD_createDCtx());
    BELAY_ASSERT(reading_ != nullptr);
  }
  std::size_t before = out.size();
  out.resize(before + static_cast<std::size_t>(size));
  std::size_t written = ZSTD_decompressDCtx(reading_.get(), out.data() + before,
                                            out.size() - before, frame.data(), frame.size());
  return !ZSTD_isError(written) && written == size;
}

}  // namespace belay::encrypted
