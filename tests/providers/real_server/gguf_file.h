#pragma once
// real_server/gguf_file.h - writes a GGUF file, the model format of llama.cpp
//
// It contains named members, then tensors of 32-bit floats; little-endian, like the machines of the
// tests.
//
// Source: ggml's docs/gguf.md, version 3.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace belay::providers {

class GgufFile {
 public:
  void set_text(std::string_view name, std::string_view text);
  void set_number(std::string_view name, std::uint32_t number);
  void set_float(std::string_view name, float number);
  void set_truth(std::string_view name, bool truth);
  void set_texts(std::string_view name, const std::vector<std::string>& texts);
  void set_numbers(std::string_view name, const std::vector<std::int32_t>& numbers);

  // `sizes` starts with the dimension that varies fastest; `values` has as many elements as their
  // product.
  void add_tensor(std::string name, std::vector<std::uint64_t> sizes, std::vector<float> values);

  // Returns the whole file.
  std::string bytes() const;

 private:
  struct Tensor {
    std::string name;
    std::vector<std::uint64_t> sizes;
    std::vector<float> values;
  };

  std::uint64_t members_ = 0;
  std::string member_bytes_;
  std::vector<Tensor> tensors_;
};

}  // namespace belay::providers
