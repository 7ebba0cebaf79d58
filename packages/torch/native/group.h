// Processes that compute together: where they meet, sums and broadcasts of tensors between them, and who still lives.
#pragma once
#include <ATen/core/Tensor.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wire.h"

namespace engine {

// Where a process stands in its group, and where the group meets.
struct Place {
  Endpoint meeting;
  // The address on which rank 0 listens.
  std::string listen;
  int rank;
  int size;
  // How long to wait for the others at the start, and for a sign of life later where that is shorter than usual.
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
  // Blocks until rank 0 is there.
  static std::shared_ptr<Group> meet(const Place& place);

  // Leaves a text for the others; false where there is another one under this name.
  virtual bool leave(const std::string& name, const std::string& text) = 0;
  virtual std::optional<std::string> find(const std::string& name) = 0;
  // Connects the processes, once all have met; `names` says what each is called.
  virtual void join(const std::string& backend, const std::vector<std::string>& names) = 0;

  virtual int size() const = 0;
  // In place; every process calls the same collectives in the same order.
  virtual std::unique_ptr<Pending> sum(const at::Tensor& tensor) = 0;
  virtual std::unique_ptr<Pending> broadcast(const at::Tensor& tensor, int root) = 0;
  // Tells the others why this process leaves.
  virtual void fail(const std::string& reason) = 0;
  // Leaves; whatever is asked of the group afterwards is refused.
  virtual void close() = 0;
};

}  // namespace engine
