#include "tests/postgres/fault_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "tests/postgres/loopback.h"

namespace belay::postgres_tests {

FaultProxy::FaultProxy(int server_port) : server_port_(server_port) {
  std::tie(listener_, port_) = listen_on_loopback();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0) {
    wake_read_ = ends[0];
    wake_write_ = ends[1];
  }
  thread_ = std::thread([this] { work(); });
}

FaultProxy::~FaultProxy() {
  {
    std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake();
  thread_.join();
  for (int file : {listener_, wake_read_, wake_write_}) ::close(file);
}

void FaultProxy::set(ProxyFaults faults) {
  {
    std::lock_guard lock(mutex_);
    faults_ = std::move(faults);
  }
  wake();
}

ProxyFaults FaultProxy::faults() const {
  std::lock_guard lock(mutex_);
  return faults_;
}

void FaultProxy::cut_all() {
  {
    std::lock_guard lock(mutex_);
    cut_all_ = true;
  }
  wake();
}

ProxyCounts FaultProxy::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

void FaultProxy::wake() { [[maybe_unused]] auto written = ::write(wake_write_, "!", 1); }

void FaultProxy::accept_one() {
  int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  std::lock_guard lock(mutex_);
  ++counts_.connections;
  int server = faults_.refuses ? -1 : connect_to_loopback(server_port_);
  if (server < 0) {
    ::close(client);
    return;
  }
  int yes = 1;
  for (int file : {client, server}) {
    ::setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  }
  connections_.push_back(std::make_unique<ProxiedConnection>(client, server));
}

void FaultProxy::work() {
  while (true) {
    std::vector<pollfd> files = {{listener_, POLLIN, 0}, {wake_read_, POLLIN, 0}};
    int timeout = -1;
    ProxyFaults now = faults();
    for (const auto& each : connections_) each->add_to(files, timeout, now);
    ::poll(files.data(), files.size(), timeout);
    std::array<char, 64> ignored;
    while (::read(wake_read_, ignored.data(), ignored.size()) > 0) {
    }
    {
      std::lock_guard lock(mutex_);
      if (is_ending_) break;
      if (std::exchange(cut_all_, false)) {
        for (const auto& each : connections_) each->cut(counts_);
      }
      std::erase_if(connections_, [&](auto& each) { return !each->move(faults_, counts_); });
    }
    if (files[0].revents) accept_one();
  }
  connections_.clear();
}

}  // namespace belay::postgres_tests
