#pragma once
// tests/corpus/old_stores.h - the stores of older versions that a test program opens
//
// old_store_cases.cc contains the cases. A program selects a kind of store by defining
// old_store_kind(), and thereby the files of tests/data/stores: two for each schema since the first
// one that make_corpus wrote, up to the one before the newest.

#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace belay::corpus {

// The place of one store: a file, or its database. The destructor removes the store.
class StorePlace {
 public:
  virtual ~StorePlace() = default;
  // Returns the name for open_store().
  virtual std::string name() const = 0;
  // Puts the uncompressed contents of a file of tests/data/stores here. Called once, first.
  virtual void restore(const std::string& contents) = 0;
  // Returns the schema of the store that is here.
  virtual std::string schema() const = 0;
};

struct OldStoreKind {
  std::string prefix;  // of the files' names, before the number of the schema
  std::string ending;
  std::size_t first_schema = 1;     // the first one with files
  std::size_t newest_schema = 1;    // the schema of this version of Belay, which needs no file
  std::size_t row_seals_since = 1;  // the schema since which rows are sealed
  std::vector<std::string> other_files = {};  // with the prefix, which other tests open
  std::unique_ptr<StorePlace> (*new_place)() = nullptr;
};

// Defined by the program.
const OldStoreKind& old_store_kind();

struct OldStore {
  std::size_t schema = 0;  // 0: created by this version
  bool is_encrypted = false;

  // Returns the name of the file, which is in stores_folder().
  std::string file() const;
  // Whether it has a key, but no seals of rows.
  bool is_before_row_seals() const;
};

void PrintTo(const OldStore& store, std::ostream* out);

inline std::filesystem::path stores_folder() { return BELAY_STORES; }

// Returns the stores of the kind: plain and encrypted ones of each older schema, then two that this
// version creates.
std::vector<OldStore> old_stores();

}  // namespace belay::corpus
