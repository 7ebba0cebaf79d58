// torch's own collectives (c10d): Gloo, and NCCL where libtorch and its headers have it.
#include "group.h"

#include "state.h"

#if defined(USE_C10D_GLOO)
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <torch/version.h>
#include <atomic>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#if defined(USE_C10D_NCCL) && __has_include(<nccl.h>)
#define HSN_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif
#endif

namespace hsn {

#if !defined(USE_C10D_GLOO)

bool Group::has(const std::string&) { return false; }
std::shared_ptr<Group> Group::open(const Place&) { throw KindError("this libtorch was built without Gloo"); }

#else

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
#if TORCH_VERSION_MAJOR >= 2
using Collectives = c10d::Backend;
#else
using Collectives = c10d::ProcessGroup;
#endif

constexpr auto kTick = 250ms;
// A process that has not ticked for this long is gone: sooner when a connection broke, later when nothing else hints at
// it.
constexpr auto kQuietInTrouble = 2s;
constexpr auto kQuiet = 30s;
// Ranks may wait hours for rank 0 while it evaluates; that they live is seen from their ticks, not from this.
constexpr auto kLongest = 240h;

std::vector<uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }
std::string text(const std::vector<uint8_t>& value) { return {value.begin(), value.end()}; }
std::string key(const char* what, int rank) { return std::string(what) + "/" + std::to_string(rank); }

c10::intrusive_ptr<c10d::TCPStore> connect(const Place& place, bool serve) {
  c10d::TCPStoreOptions options;
  options.port = place.port;
  options.isServer = serve;
  options.waitWorkers = false;
  options.timeout = place.patience;
  return c10::make_intrusive<c10d::TCPStore>(place.host, options);
}

// The address of this machine that packets to the meeting place leave from: what the others can reach it by.
std::string localAddress(const Place& place) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_DGRAM;
  if (getaddrinfo(place.host.c_str(), std::to_string(place.port).c_str(), &hints, &found) != 0) return {};
  std::string address;
  for (auto* at = found; at != nullptr && address.empty(); at = at->ai_next) {
    const int socket = ::socket(at->ai_family, SOCK_DGRAM, 0);
    if (socket < 0) continue;
    sockaddr_storage name{};
    socklen_t length = sizeof name;
    char buffer[NI_MAXHOST];
    auto* generic = reinterpret_cast<sockaddr*>(&name);
    if (::connect(socket, at->ai_addr, at->ai_addrlen) == 0 && getsockname(socket, generic, &length) == 0 &&
        getnameinfo(generic, length, buffer, sizeof buffer, nullptr, 0, NI_NUMERICHOST) == 0) {
      address = buffer;
    }
    ::close(socket);
  }
  freeaddrinfo(found);
  return address;
}

std::string ownName() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return std::string("process ") + std::to_string(getpid()) + " on " + host;
}

// Ticks in the store while this process lives, and learns from there who does not. Rank 0, which holds the store,
// looks at all ticks and writes down who stopped; the others read that, or see the store itself vanish.
class Watch {
 public:
  Watch(const Place& place, std::vector<std::string> names)
      : place_(place), names_(std::move(names)), store_(connect(place, false)) {
    thread_ = std::thread([this] { run(); });
  }
  ~Watch() { stop(); }

  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }
  // What ended the group, if anything did.
  std::string failure() {
    std::lock_guard<std::mutex> guard(mutex_);
    return failure_;
  }
  // Something broke: finds out what, or says what the collective said.
  std::string explain(const std::string& otherwise) {
    trouble_ = true;
    const auto until = Clock::now() + kQuietInTrouble + 3s;
    while (failure().empty() && Clock::now() < until) std::this_thread::sleep_for(50ms);
    const auto found = failure();
    return found.empty() ? "the connection to another rank broke: " + otherwise : found;
  }
  void fail(const std::string& reason) {
    own_ = "rank " + std::to_string(place_.rank) + " (" + names_[place_.rank] + ") " + reason;
    hasOwn_ = true;
    // Rank 0 is the last to leave, so that the others can read it.
    std::this_thread::sleep_for(4 * kTick);
  }

 private:
  void run() {
    std::vector<std::string> seen(place_.size);
    std::vector<Clock::time_point> when(place_.size, Clock::now());
    for (int64_t tick = 0; !stopping_; ++tick, std::this_thread::sleep_for(kTick)) {
      try {
        store_->set(key("tick", place_.rank), bytes(std::to_string(tick)));
        if (trouble_) store_->set("trouble", bytes("1"));
        if (hasOwn_) store_->compareSet("failure", {}, bytes(own_));
        if (place_.rank == 0) look(seen, when);
        if (store_->check({"failure"})) note(text(store_->get("failure")));
      } catch (const std::exception&) {
        if (!stopping_) note("rank 0 (" + names_[0] + ") is gone");
        return;
      }
    }
  }
  void look(std::vector<std::string>& seen, std::vector<Clock::time_point>& when) {
    const auto limit = store_->check({"trouble"}) ? kQuietInTrouble : kQuiet;
    for (int rank = 1; rank < place_.size; ++rank) {
      if (store_->check({key("left", rank)})) continue;
      const auto now = store_->check({key("tick", rank)}) ? text(store_->get(key("tick", rank))) : "";
      if (now != seen[rank]) {
        seen[rank] = now;
        when[rank] = Clock::now();
      } else if (Clock::now() - when[rank] > limit) {
        store_->compareSet("failure", {}, bytes("rank " + std::to_string(rank) + " (" + names_[rank] + ") is gone"));
      }
    }
  }
  void note(const std::string& what) {
    std::lock_guard<std::mutex> guard(mutex_);
    if (failure_.empty()) failure_ = what;
  }

  const Place place_;
  const std::vector<std::string> names_;
  c10::intrusive_ptr<c10d::TCPStore> store_;
  std::atomic<bool> stopping_{false}, trouble_{false}, hasOwn_{false};
  std::string own_;
  std::mutex mutex_;
  std::string failure_;
  std::thread thread_;
};

class Underway : public Pending {
 public:
  Underway(c10::intrusive_ptr<c10d::Work> work, std::shared_ptr<Watch> watch)
      : work_(std::move(work)), watch_(std::move(watch)) {}
  void wait() override {
    for (;;) {
      try {
        work_->wait(1000ms);
        return;
      } catch (const std::exception& error) {
        if (work_->isCompleted()) throw LostError(watch_->explain(firstLine(error.what())));
      }
      const auto failure = watch_->failure();
      if (!failure.empty()) throw LostError(failure);
    }
  }

 private:
  static std::string firstLine(const std::string& message) { return message.substr(0, message.find('\n')); }
  c10::intrusive_ptr<c10d::Work> work_;
  std::shared_ptr<Watch> watch_;
};

class TorchGroup : public Group {
 public:
  explicit TorchGroup(const Place& place) : place_(place), store_(connect(place, place.rank == 0)) {
    const auto names = meet();
    group_ = place.backend == "nccl" ? nccl() : gloo();
    watch_ = std::make_shared<Watch>(place, names);
  }

  int rank() const override { return place_.rank; }
  int size() const override { return place_.size; }

  std::unique_ptr<Pending> sum(const at::Tensor& tensor) override {
    std::vector<at::Tensor> tensors{tensor};
    return std::make_unique<Underway>(group_->allreduce(tensors), watch_);
  }
  std::unique_ptr<Pending> broadcast(const at::Tensor& tensor, int root) override {
    std::vector<at::Tensor> tensors{tensor};
    c10d::BroadcastOptions options;
    options.rootRank = root;
    return std::make_unique<Underway>(group_->broadcast(tensors, options), watch_);
  }
  void fail(const std::string& reason) override { watch_->fail(reason); }

  void close() override {
    const bool whole = watch_->failure().empty();
    try {
      store_->set(key("left", place_.rank), bytes("1"));
      // The store ends with rank 0: the others go first, and read why before that.
      if (place_.rank == 0) waitForOthers();
    } catch (const std::exception&) {
    }
    watch_->stop();
    // A collective that hangs for a lost process never ends, and the group's end would wait for it.
    if (!whole) group_.release();
  }

 private:
  // Each leaves its name, and waits for those of all others.
  std::vector<std::string> meet() {
    store_->set(key("name", place_.rank), bytes(ownName()));
    std::vector<std::string> names;
    const auto until = Clock::now() + place_.patience;
    for (int rank = 0; rank < place_.size; ++rank) {
      while (!store_->check({key("name", rank)})) {
        if (Clock::now() > until) {
          throw LostError("rank " + std::to_string(rank) + " of " + std::to_string(place_.size) + " did not come to " +
                          place_.host + ":" + std::to_string(place_.port));
        }
        std::this_thread::sleep_for(50ms);
      }
      names.push_back(text(store_->get(key("name", rank))));
    }
    return names;
  }
  c10::intrusive_ptr<Collectives> gloo() {
    auto options = c10d::ProcessGroupGloo::Options::create(kLongest);
    const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
    const auto address = localAddress(place_);
    options->devices.push_back(interface != nullptr ? c10d::ProcessGroupGloo::createDeviceForInterface(interface)
                               : address.empty()    ? c10d::ProcessGroupGloo::createDefaultDevice()
                                                    : c10d::ProcessGroupGloo::createDeviceForHostname(address));
    options->threads = 2;
    auto store = c10::make_intrusive<c10d::PrefixStore>("gloo", store_);
    return c10::make_intrusive<c10d::ProcessGroupGloo>(store, place_.rank, place_.size, options);
  }
  c10::intrusive_ptr<Collectives> nccl() {
#if defined(HSN_NCCL)
    auto store = c10::make_intrusive<c10d::PrefixStore>("nccl", store_);
    return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, place_.rank, place_.size);
#else
    throw KindError("the addon was built without NCCL");
#endif
  }
  void waitForOthers() {
    const auto until = Clock::now() + 5s;
    for (int rank = 1; rank < place_.size; ++rank) {
      while (!store_->check({key("left", rank)}) && Clock::now() < until) {
        // Those that were lost do not say so.
        if (!watch_->failure().empty() && Clock::now() > until - 3s) return;
        std::this_thread::sleep_for(20ms);
      }
    }
  }

  const Place place_;
  c10::intrusive_ptr<c10d::TCPStore> store_;
  c10::intrusive_ptr<Collectives> group_;
  std::shared_ptr<Watch> watch_;
};

}  // namespace

bool Group::has(const std::string& backend) {
#if defined(HSN_NCCL)
  if (backend == "nccl") return true;
#endif
  return backend == "gloo";
}

std::shared_ptr<Group> Group::open(const Place& place) { return std::make_shared<TorchGroup>(place); }

#endif

}  // namespace hsn
