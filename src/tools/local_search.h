#pragma once
// tools/local_search.h - a search in the text files of some folders.
//
// Threading: any thread; one call at a time, others wait. Calls block.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "belay/tools.h"
#include "tools/folder_walk.h"
#include "tools/search_index.h"

namespace belay::tools {

struct SearchAnswer {
  std::vector<SearchHit> results{};
  std::string note{};  // why files are missing; empty: none is
};

class LocalSearch {
 public:
  // Opens the index and updates it.
  static Result<std::shared_ptr<LocalSearch>> open(LocalSearchOptions options);
  LocalSearch(LocalSearchOptions options, std::unique_ptr<SearchIndex> index)
      : options_(std::move(options)), index_(std::move(index)) {}

  // Indexes the changed files, then searches.
  Result<SearchAnswer> search(std::string_view words, int limit);

  // The number of files that were indexed since the search was opened.
  std::size_t indexed() const { return indexed_; }

 private:
  // The files of one update.
  struct Update {
    std::map<std::string, IndexedFile> files;
    std::uint64_t bytes = 0;
    bool is_complete = true;
    bool has_begun = false;  // the transaction
    std::size_t indexed = 0;
  };

  Result<Done> update();
  Result<Done> update_folders(Update& update);
  Result<Done> update_folder(const std::string& folder, Update& update);
  Visit visit(const FoundEntry& entry, const std::string& folder, Update& update,
              std::optional<Error>& failure);
  Result<Done> update_file(const FoundEntry& entry, const std::string& folder, Update& update);
  Result<Done> begin(Update& update);

  const LocalSearchOptions options_;
  std::mutex mutex_;
  std::unique_ptr<SearchIndex> index_;
  std::map<std::string, IndexedFile> files_;  // as in the index
  bool is_complete_ = true;
  std::size_t indexed_ = 0;
};

}  // namespace belay::tools
