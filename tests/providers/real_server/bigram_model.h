#pragma once
// real_server/bigram_model.h - generates a language model of a few hundred tokens for llama.cpp
//
// It is a table of the tokens that follow each token, counted in a page of our own text. One block
// whose matrices are all zero passes each token's embedding, which is one-hot, to the output, which
// contains the logarithm of the frequency of each following token. It therefore needs no training
// and no external weights, and is the same file on every machine. Its text is senseless on purpose:
// a schema is satisfied because the server permits nothing else.
//
// The last token of its prompt, which its chat template selects, determines the reply:
//   tools are given, and no result of one is the last message     it calls one
//   the last message contains the words "without end"             it never ends
//   otherwise                                                     some sentences, and an end

#include <string>

namespace belay::providers {

// In a message: the reply never ends.
inline constexpr const char* kWithoutEnd = "without end";
// The longest context that the model declares, in tokens.
inline constexpr int kContextTokens = 262'144;

// Returns the model as a GGUF file of about two megabytes.
std::string bigram_model();

}  // namespace belay::providers
