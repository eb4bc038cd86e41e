#pragma once
// real_server/bigram_model.h - a language model of a few hundred tokens that llama.cpp takes for
// any other: a table of which token follows which, counted in a page of text of our own.
//
// One block whose matrices are all zero hands each token's embedding, which is one-hot, to the
// output; there stands the logarithm of how often each other token follows. So it needs no training
// and nobody's weights, and is the same file on every machine. What it says is senseless, and that
// is the point: a schema is obeyed because the server lets it say nothing else.
//
// What it does is decided by the last token of its prompt, which its chat template chooses:
//   tools are given, and no result of one is the last message     it calls one
//   the last message has the words "without end"                  it never ends
//   else                                                          some sentences, and an end

#include <string>

namespace belay::providers {

// In a message: the answer has no end.
inline constexpr const char* kWithoutEnd = "without end";
// The longest context that the model says it was made for, in tokens.
inline constexpr int kContextTokens = 262'144;

// The model as a GGUF file, some two megabytes.
std::string bigram_model();

}  // namespace belay::providers
