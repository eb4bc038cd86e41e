#pragma once
// tests/postgres/fault_proxy.h - a TCP proxy in front of a PostgreSQL server which breaks
// connections where it hurts: it reads the protocol well enough to cut before a transaction's end
// is sent, just after, and between the commit and its reply, and to have a statement fail.
//
// Threading: one thread; every method from any thread. It ends with the object.

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

  // From now on, for connections that there are too.
  void set(ProxyFaults faults);
  ProxyFaults faults() const;
  void heal() { set({}); }
  // Cuts every connection now.
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
  ProxyFaults faults_;                                           // behind mutex_
  ProxyCounts counts_;                                           // behind mutex_
  bool cut_all_ = false;                                         // behind mutex_
  bool is_ending_ = false;                                       // behind mutex_
  std::vector<std::unique_ptr<ProxiedConnection>> connections_;  // the thread's own
  std::thread thread_;
};

}  // namespace belay::postgres_tests
