#include "belay/service.h"

namespace belay {
namespace {

class ServiceRecords final : public Records {
 public:
  ServiceRecords(Service& service, Principal who, UserId user)
      : service_(service), who_(std::move(who)), user_(std::move(user)) {}

  Task<Result<std::vector<RecordRow>>> find(RecordFilter filter) override {
    UserId user = filter.user.empty() ? user_ : filter.user;
    return service_.find_records(who_, std::move(user), std::move(filter));
  }

 private:
  Service& service_;
  const Principal who_;
  const UserId user_;
};

}  // namespace

std::unique_ptr<Records> records_of(Service& service, Principal who, UserId user) {
  return std::make_unique<ServiceRecords>(service, std::move(who), std::move(user));
}

}  // namespace belay
