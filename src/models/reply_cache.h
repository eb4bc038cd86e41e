#pragma once
// models/reply_cache.h - reply cache: returns recent replies to equal requests until they expire.
//
// The key is a SHA-256 of everything that determines a reply: the models, their servers, and the
// whole request. Only complete texts that their reader accepted (AnswerVerdict) are cached; a
// refused one is deleted, here and from the shared cache, and its request is sent to the model
// again. The least recently used entries are evicted first.
//
// Threading: the executor's thread.

#include <list>
#include <map>
#include <memory>

#include "belay/ids.h"
#include "belay/models.h"

namespace belay::models {

struct ReplyCacheOptions {
  std::chrono::milliseconds ttl{};
  std::size_t entries_max = 0;
  std::size_t bytes_max = 0;
  SharedReplyCache* shared = nullptr;  // second level, shared by several processes; can be null
};

class CachedModel final : public Model, public std::enable_shared_from_this<CachedModel> {
 public:
  // `identity` identifies the models within the cache key. The clock must outlive it.
  CachedModel(std::shared_ptr<Model> model, std::string identity, ReplyCacheOptions options,
              Clock& clock)
      : model_(std::move(model)),
        identity_(std::move(identity)),
        options_(options),
        clock_(clock) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override;
  std::string name() const override { return model_->name(); }
  std::optional<ModelPrice> price(const ModelRequest& request) const override {
    return model_->price(request);
  }
  std::int64_t input_tokens_max(const ModelRequest& request) const override {
    return model_->input_tokens_max(request);
  }

 private:
  struct Entry {
    Digest key;
    std::optional<ModelReply> reply;  // unset: nothing is cached
    Instant made;
    // SHA-256 of refused texts: the shared cache might still hold them; they are not used here.
    std::vector<Digest> refused;
    std::size_t bytes = 0;
  };
  using Entries = std::list<Entry>;  // most recently used first

  Digest key_of(const ModelRequest& request) const;
  Entry* find(const Digest& key);
  Task<std::optional<ModelReply>> find_kept(Digest key);
  void keep(Entry entry);
  void accept(const Digest& key, const ModelReply& reply);
  void refuse(const Digest& key, const ModelReply& reply);
  // Defers caching or deleting `reply` until its reader's verdict.
  void await_verdict(AnswerVerdict& verdict, const Digest& key, ModelReply reply, bool is_new);
  void remove(Entries::iterator entry);

  const std::shared_ptr<Model> model_;
  const std::string identity_;
  const ReplyCacheOptions options_;
  Clock& clock_;
  Entries entries_;
  std::map<Digest, Entries::iterator> by_key_;
  std::size_t bytes_ = 0;
};

}  // namespace belay::models
