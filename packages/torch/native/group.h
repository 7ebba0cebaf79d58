// Processes that compute together: sums and broadcasts of tensors between them, and who of them still lives.
#pragma once
#include <ATen/ATen.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace hsn {

// Where a process stands in its group, and where the group meets.
struct Place {
  std::string backend;
  std::string host;
  uint16_t port;
  int rank;
  int size;
  // How long to wait for the others at the start.
  std::chrono::milliseconds patience;
};

// A collective that is under way on other threads.
class Pending {
 public:
  virtual ~Pending() = default;
  // Throws LostError, with the name of the process, when another one has ended.
  virtual void wait() = 0;
};

class Group {
 public:
  virtual ~Group() = default;
  static bool has(const std::string& backend);
  // Blocks until all processes are there.
  static std::shared_ptr<Group> open(const Place& place);

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // In place; every process calls the same collectives in the same order.
  virtual std::unique_ptr<Pending> sum(const at::Tensor& tensor) = 0;
  virtual std::unique_ptr<Pending> broadcast(const at::Tensor& tensor, int root) = 0;
  // Tells the others why this process leaves.
  virtual void fail(const std::string& reason) = 0;
  virtual void close() = 0;
};

}  // namespace hsn
