// real_server/gguf_file.cc - see gguf_file.h.

#include "tests/providers/real_server/gguf_file.h"

#include <bit>
#include <numeric>

#include "belay/result.h"

namespace belay::providers {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t version = 3;
constexpr std::uint64_t alignment = 32;

// The numbers of types: of members, and of a tensor's values.
constexpr std::uint32_t type_uint32 = 4;
constexpr std::uint32_t type_int32 = 5;
constexpr std::uint32_t type_float32 = 6;
constexpr std::uint32_t type_bool = 7;
constexpr std::uint32_t type_string = 8;
constexpr std::uint32_t type_array = 9;
constexpr std::uint32_t tensor_float32 = 0;

template <typename Number>
void put(std::string& out, Number number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void put_text(std::string& out, std::string_view text) {
  put<std::uint64_t>(out, text.size());
  out += text;
}

std::uint64_t aligned(std::uint64_t size) { return (size + alignment - 1) / alignment * alignment; }

std::string member(std::string_view name, std::uint32_t type) {
  std::string out;
  put_text(out, name);
  put(out, type);
  return out;
}

}  // namespace

void GgufFile::set_text(std::string_view name, std::string_view text) {
  member_bytes_ += member(name, type_string);
  put_text(member_bytes_, text);
  ++members_;
}

void GgufFile::set_number(std::string_view name, std::uint32_t number) {
  member_bytes_ += member(name, type_uint32);
  put(member_bytes_, number);
  ++members_;
}

void GgufFile::set_float(std::string_view name, float number) {
  member_bytes_ += member(name, type_float32);
  put(member_bytes_, number);
  ++members_;
}

void GgufFile::set_truth(std::string_view name, bool truth) {
  member_bytes_ += member(name, type_bool);
  put<std::uint8_t>(member_bytes_, truth ? 1 : 0);
  ++members_;
}

void GgufFile::set_texts(std::string_view name, const std::vector<std::string>& texts) {
  member_bytes_ += member(name, type_array);
  put(member_bytes_, type_string);
  put<std::uint64_t>(member_bytes_, texts.size());
  for (const std::string& text : texts) put_text(member_bytes_, text);
  ++members_;
}

void GgufFile::set_numbers(std::string_view name, const std::vector<std::int32_t>& numbers) {
  member_bytes_ += member(name, type_array);
  put(member_bytes_, type_int32);
  put<std::uint64_t>(member_bytes_, numbers.size());
  for (std::int32_t number : numbers) put(member_bytes_, number);
  ++members_;
}

void GgufFile::add_tensor(std::string name, std::vector<std::uint64_t> sizes,
                          std::vector<float> values) {
  auto product = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{1}, std::multiplies<>());
  BELAY_ASSERT(product == values.size());
  tensors_.push_back({std::move(name), std::move(sizes), std::move(values)});
}

std::string GgufFile::bytes() const {
  std::string out = "GGUF";
  put(out, version);
  put<std::uint64_t>(out, tensors_.size());
  put(out, members_);
  out += member_bytes_;
  std::uint64_t offset = 0;
  for (const Tensor& tensor : tensors_) {
    put_text(out, tensor.name);
    put(out, static_cast<std::uint32_t>(tensor.sizes.size()));
    for (std::uint64_t size : tensor.sizes) put(out, size);
    put(out, tensor_float32);
    put(out, offset);
    offset += aligned(tensor.values.size() * sizeof(float));
  }
  out.resize(aligned(out.size()));
  for (const Tensor& tensor : tensors_) {
    for (float value : tensor.values) put(out, value);
    out.resize(aligned(out.size()));
  }
  return out;
}

}  // namespace belay::providers
