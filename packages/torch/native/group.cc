// torch's own collectives (c10d): Gloo, and NCCL where libtorch and its headers have it.
#include "group.h"

#include "state.h"

#if defined(USE_C10D_GLOO)
#include <torch/version.h>
#include <atomic>
#include <future>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "meeting.h"
// Its header needs NCCL's and those of a CUDA toolkit.
#if defined(USE_C10D_NCCL) && __has_include(<nccl.h>) && __has_include(<crt/host_config.h>)
#define HSN_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif
#endif

namespace engine {

#if !defined(USE_C10D_GLOO)

bool Group::has(const std::string&) { return false; }
std::shared_ptr<Group> Group::meet(const Place&) { throw KindError("this libtorch was built without Gloo"); }

#else

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
#if TORCH_VERSION_MAJOR >= 2
using Collectives = c10d::Backend;
#else
using Collectives = c10d::ProcessGroup;
#endif

constexpr auto kTick = 250ms;
// A process that has not ticked for this long does not answer: sooner when a connection broke, later when nothing else
// hints at it.
constexpr milliseconds kQuietInTrouble = 2s;
constexpr milliseconds kQuiet = 30s;
// Ranks may wait hours for rank 0 while it evaluates; that they live is seen from their ticks, not from this.
constexpr auto kLongest = 240h;

std::string key(const char* what, int rank) { return std::string(what) + "/" + std::to_string(rank); }
milliseconds quietOf(const Place& place) { return std::min(kQuiet, place.patience); }
// Its connection is still there: it was stopped, or its machine is cut off, and nobody can tell which.
std::string silentFor(milliseconds limit) {
  return " has not answered for " + std::to_string(limit.count() / 1000) + " s (stopped, or cut off)";
}
std::string firstLine(const std::string& message) { return message.substr(0, message.find('\n')); }

// The meeting place in the form in which c10d asks for it. Waiting ends with the patience, and when the group has
// failed.
class GroupStore : public c10d::Store {
 public:
  GroupStore(std::shared_ptr<Meeting> meeting, milliseconds patience) : Store(patience), meeting_(std::move(meeting)) {}

  // Without `override`: libtorch 1.13 does not ask for it.
  c10::intrusive_ptr<c10d::Store> clone() { return c10::make_intrusive<GroupStore>(meeting_, timeout_); }
  void set(const std::string& name, const std::vector<uint8_t>& value) override { meeting_->set(name, text(value)); }
  std::vector<uint8_t> compareSet(const std::string& name, const std::vector<uint8_t>& expected,
                                  const std::vector<uint8_t>& desired) override {
    return bytes(meeting_->compareSet(name, text(expected), text(desired)));
  }
  std::vector<uint8_t> get(const std::string& name) override {
    wait({name});
    return bytes(meeting_->get(name).value());
  }
  int64_t add(const std::string& name, int64_t amount) override { return meeting_->add(name, amount); }
  bool deleteKey(const std::string& name) override { return meeting_->remove(name); }
  int64_t getNumKeys() override { return meeting_->count(); }
  bool check(const std::vector<std::string>& names) override {
    return std::all_of(names.begin(), names.end(),
                       [this](const std::string& name) { return meeting_->get(name).has_value(); });
  }
  void wait(const std::vector<std::string>& names) override { wait(names, timeout_); }
  void wait(const std::vector<std::string>& names, const milliseconds& most) override {
    const auto until = Clock::now() + std::min(most, timeout_);
    while (!check(names)) {
      if (const auto failure = meeting_->get("failure")) throw LostError(*failure);
      if (Clock::now() > until) throw LostError("another rank left nothing under " + names[0] + " in the store");
      std::this_thread::sleep_for(5ms);
    }
  }

 private:
  static std::vector<uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }
  static std::string text(const std::vector<uint8_t>& value) { return {value.begin(), value.end()}; }
  std::shared_ptr<Meeting> meeting_;
};

// Ticks in the store while this process lives, and learns from there who does not. Rank 0, which holds the store,
// looks at all ticks and writes down who stopped; the others read that, or see the store itself vanish.
class Watch {
 public:
  Watch(const Place& place, std::vector<std::string> names, std::shared_ptr<Meeting> meeting)
      : place_(place), names_(std::move(names)), meeting_(std::move(meeting)) {
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
  std::string nameOf(int rank) const { return "rank " + std::to_string(rank) + " (" + names_[rank] + ")"; }

 private:
  void run() {
    std::vector<std::string> seen(place_.size);
    std::vector<Clock::time_point> when(place_.size, Clock::now());
    for (int64_t tick = 0; !stopping_; ++tick, std::this_thread::sleep_for(kTick)) {
      try {
        meeting_->set(key("tick", place_.rank), std::to_string(tick));
        if (trouble_) meeting_->set("trouble", "1");
        if (place_.rank == 0) look(seen, when);
        if (const auto failure = meeting_->get("failure")) note(*failure);
      } catch (const QuietError&) {
        if (!stopping_) note(nameOf(0) + silentFor(quietOf(place_)));
        return;
      } catch (const std::exception&) {
        if (!stopping_) note(nameOf(0) + " is gone");
        return;
      }
    }
  }
  void look(std::vector<std::string>& seen, std::vector<Clock::time_point>& when) {
    const auto limit = meeting_->get("trouble") ? std::min(kQuietInTrouble, quietOf(place_)) : quietOf(place_);
    for (int rank = 1; rank < place_.size; ++rank) {
      // Who leaves says so before its connection ends.
      const bool closed = meeting_->get(closedName(rank)).has_value();
      if (meeting_->get(key("left", rank))) continue;
      const auto now = meeting_->get(key("tick", rank)).value_or("");
      if (now != seen[rank]) {
        seen[rank] = now;
        when[rank] = Clock::now();
      }
      if (closed)
        meeting_->compareSet("failure", "", nameOf(rank) + " is gone");
      else if (Clock::now() - when[rank] > limit)
        meeting_->compareSet("failure", "", nameOf(rank) + silentFor(limit));
    }
  }
  void note(const std::string& what) {
    std::lock_guard<std::mutex> guard(mutex_);
    if (failure_.empty()) failure_ = what;
  }

  const Place place_;
  const std::vector<std::string> names_;
  const std::shared_ptr<Meeting> meeting_;
  std::atomic<bool> stopping_{false}, trouble_{false};
  std::mutex mutex_;
  std::string failure_;
  std::thread thread_;
};

class Underway : public Pending {
 public:
  Underway(c10::intrusive_ptr<c10d::Work> work, std::shared_ptr<Watch> watch, bool polled)
      : work_(std::move(work)), watch_(std::move(watch)), polled_(polled) {}
  void wait() override {
    if (polled_) return poll();
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
  // NCCL takes the end of a wait for a fault and closes its connections, so its work is looked at until it is done.
  void poll() {
    try {
      while (!work_->isCompleted()) {
        const auto failure = watch_->failure();
        if (!failure.empty()) throw LostError(failure);
        std::this_thread::sleep_for(50us);
      }
      work_->wait();
    } catch (const c10::Error& error) {
      throw LostError(watch_->explain(firstLine(error.what_without_backtrace())));
    }
  }

  c10::intrusive_ptr<c10d::Work> work_;
  std::shared_ptr<Watch> watch_;
  const bool polled_;
};

c10::intrusive_ptr<Collectives> gloo(const Place& place, const c10::intrusive_ptr<c10d::Store>& store) {
  auto options = c10d::ProcessGroupGloo::Options::create(kLongest);
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  // The address that packets to the meeting place leave from: what the others can reach this machine by.
  const auto address = localAddress(place.meeting);
  options->devices.push_back(interface != nullptr ? c10d::ProcessGroupGloo::createDeviceForInterface(interface)
                             : address.empty()    ? c10d::ProcessGroupGloo::createDefaultDevice()
                                                  : c10d::ProcessGroupGloo::createDeviceForHostname(address));
  options->threads = 2;
  return c10::make_intrusive<c10d::ProcessGroupGloo>(c10::make_intrusive<c10d::PrefixStore>("gloo", store), place.rank,
                                                     place.size, options);
}

c10::intrusive_ptr<Collectives> nccl([[maybe_unused]] const Place& place,
                                     [[maybe_unused]] const c10::intrusive_ptr<c10d::Store>& store) {
#if defined(HSN_NCCL)
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(c10::make_intrusive<c10d::PrefixStore>("nccl", store), place.rank,
                                                     place.size);
#else
  throw KindError("the addon was built without NCCL");
#endif
}

std::unique_ptr<MeetingPlace> holdPlace(const Place& place) {
  if (place.rank != 0) return nullptr;
  const Endpoint at{place.listen, place.meeting.port};
  try {
    return std::make_unique<MeetingPlace>(at);
  } catch (const WireError& error) {
    throw WireError("rank 0 cannot listen on " + at.text() + ": " + error.what());
  }
}

class TorchGroup : public Group {
 public:
  explicit TorchGroup(const Place& place)
      : place_(place),
        hall_(holdPlace(place)),
        meeting_(std::make_shared<Meeting>(ownEndpoint(), place.rank, place.patience, quietOf(place))) {}

  bool leave(const std::string& name, const std::string& text) override {
    return reached([&] { return meeting_->compareSet(name, "", text) == text; });
  }
  std::optional<std::string> find(const std::string& name) override {
    return reached([&] { return meeting_->get(name); });
  }

  void join(const std::string& backend, const std::vector<std::string>& names) override {
    // All are here: whoever knocks now belongs to another group.
    if (hall_) hall_->shutDoor();
    polled_ = backend == "nccl";
    watch_ = std::make_shared<Watch>(place_, names, meeting_);
    auto promise = std::make_shared<std::promise<c10::intrusive_ptr<Collectives> > >();
    auto made = promise->get_future();
    // On a thread that can be left behind: connecting waits as long as collectives may take.
    std::thread([promise, backend, place = place_, store = c10::make_intrusive<GroupStore>(meeting_, place_.patience)] {
      try {
        promise->set_value(backend == "nccl" ? nccl(place, store) : gloo(place, store));
      } catch (...) {
        promise->set_exception(std::current_exception());
      }
    }).detach();
    const auto until = Clock::now() + place_.patience;
    while (made.wait_for(20ms) != std::future_status::ready) {
      const auto failure = watch_->failure();
      if (!failure.empty()) throw LostError(failure);
      if (Clock::now() > until)
        throw LostError("the ranks have met, but could not connect to each other: are all ports open between them?");
    }
    try {
      group_ = made.get();
    } catch (const c10::Error& error) {
      throw LostError(watch_->explain(firstLine(error.what_without_backtrace())));
    } catch (const std::exception& error) {
      throw LostError(watch_->explain(firstLine(error.what())));
    }
  }

  int size() const override { return place_.size; }

  std::unique_ptr<Pending> sum(const at::Tensor& tensor) override {
    std::vector<at::Tensor> tensors{tensor};
    return std::make_unique<Underway>(collectives().allreduce(tensors), watch_, polled_);
  }
  std::unique_ptr<Pending> broadcast(const at::Tensor& tensor, int root) override {
    std::vector<at::Tensor> tensors{tensor};
    c10d::BroadcastOptions options;
    options.rootRank = root;
    return std::make_unique<Underway>(collectives().broadcast(tensors, options), watch_, polled_);
  }
  void fail(const std::string& reason) override {
    try {
      meeting_->compareSet("failure", "", watch_->nameOf(place_.rank) + " " + reason);
    } catch (const std::exception&) {
      // Rank 0 is gone: there is nobody to tell.
    }
  }

  void close() override {
    const bool whole = !watch_ || watch_->failure().empty();
    try {
      meeting_->set(key("left", place_.rank), "1");
      // The store ends with rank 0: the others go first, and read why before that.
      if (hall_) waitForOthers();
    } catch (const std::exception&) {
    }
    if (watch_) watch_->stop();
    // A collective that hangs for a lost process never ends, and the group's end would wait for it.
    if (!whole) group_.release();
    group_.reset();
    hall_.reset();
  }

 private:
  // Rank 0 reaches its own store where it listens: the address of the group may lead elsewhere.
  Endpoint ownEndpoint() const {
    return place_.rank == 0 ? Endpoint{place_.listen, place_.meeting.port} : place_.meeting;
  }

  template <typename F>
  static auto reached(F&& body) -> decltype(body()) {
    try {
      return body();
    } catch (const QuietError& error) {
      throw LostError(std::string("rank 0 does not answer: ") + error.what());
    } catch (const WireError& error) {
      throw LostError(std::string("rank 0 is gone: ") + error.what());
    }
  }
  Collectives& collectives() {
    if (!group_) throw KindError("the group of processes was closed: nothing can be computed over it any more");
    return *group_;
  }
  void waitForOthers() {
    const auto until = Clock::now() + 5s;
    for (int rank = 1; rank < place_.size; ++rank) {
      while (!meeting_->get(key("left", rank)) && !meeting_->get(closedName(rank)) && Clock::now() < until) {
        // Those that were lost do not say so.
        if (watch_ && !watch_->failure().empty() && Clock::now() > until - 3s) return;
        std::this_thread::sleep_for(20ms);
      }
    }
  }

  const Place place_;
  std::unique_ptr<MeetingPlace> hall_;
  const std::shared_ptr<Meeting> meeting_;
  c10::intrusive_ptr<Collectives> group_;
  std::shared_ptr<Watch> watch_;
  bool polled_ = false;
};

}  // namespace

bool Group::has(const std::string& backend) {
#if defined(HSN_NCCL)
  if (backend == "nccl") return true;
#endif
  return backend == "gloo";
}

std::shared_ptr<Group> Group::meet(const Place& place) { return std::make_shared<TorchGroup>(place); }

#endif

}  // namespace engine
