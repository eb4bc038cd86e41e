#pragma once
// tests/postgres/fault_proxy.h - a TCP proxy in front of a PostgreSQL server that injects faults
//
// It parses the protocol in order to cut a connection before the end of a transaction is sent,
// directly after it, or between the commit and its reply, and to make a statement fail.
//
// Threading: one thread, which ends with the object; every method can be called from any thread.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tests/postgres/proxied_connection.h"

namespace belay::postgres_tests {

class FaultProxy {
 public:
  explicit FaultProxy(int server_port);
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;
  ~FaultProxy();

  int port() const { return port_; }

  // Applies to existing connections too.
  void set(ProxyFaults faults);
  ProxyFaults faults() const;
  void heal() { set({}); }
  // Cuts every connection immediately.
  void cut_all();

  ProxyCounts counts() const;

 private:
  void work();
  void accept_one();
  void wake();

  int port_ = 0;
  int server_port_ = 0;
  int listener_ = -1;
  int wake_read_ = -1;
  int wake_write_ = -1;
  mutable std::mutex mutex_;
  ProxyFaults faults_;                                           // guarded by mutex_
  ProxyCounts counts_;                                           // guarded by mutex_
  bool cut_all_ = false;                                         // guarded by mutex_
  bool is_ending_ = false;                                       // guarded by mutex_
  std::vector<std::unique_ptr<ProxiedConnection>> connections_;  // used only by the thread
  std::thread thread_;
};

}  // namespace belay::postgres_tests
