// Where the processes of a group meet: a small store of texts by name, held by rank 0 and reached over TCP. torch's own
// TCPStore listens on all interfaces, and waits for ever on a port where another program listens and says nothing.
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "wire.h"

namespace engine {

// The store itself: a thread that answers, one request of each connection at a time.
class MeetingPlace {
 public:
  explicit MeetingPlace(const Endpoint& at);
  ~MeetingPlace();
  // Nobody is let in any more; who is in stays.
  void shutDoor() { shut_ = true; }

 private:
  struct Guest {
    Wire wire;
    int rank;
    Clock::time_point since;
    std::string in;
    std::string out;
    bool welcome;
  };

  void run();
  void admit();
  bool serve(Guest& guest, short events);
  bool greet(Guest& guest);
  bool answer(Guest& guest);
  std::string reply(char operation, const std::string& name, const std::string& a, const std::string& b);

  Wire door_;
  std::vector<Guest> guests_;
  std::map<std::string, std::string> texts_;
  std::atomic<bool> closing_{false}, shut_{false};
  std::thread thread_;
};

// How one process reaches it. All calls end within `quiet`, or throw WireError.
class Meeting {
 public:
  // Knocks until rank 0 is there, for as long as `patience`; once connected, an answer must come within `quiet`.
  Meeting(const Endpoint& at, int rank, std::chrono::milliseconds patience, std::chrono::milliseconds quiet);

  void set(const std::string& name, const std::string& value);
  std::optional<std::string> get(const std::string& name);
  // Sets `desired` where there is `expected`, or nothing and `expected` is empty; what is there then.
  std::string compareSet(const std::string& name, const std::string& expected, const std::string& desired);
  int64_t add(const std::string& name, int64_t amount);
  bool remove(const std::string& name);
  int64_t count();

 private:
  bool greet(int rank, Clock::time_point deadline);
  std::optional<std::string> ask(char operation, const std::string& name, const std::string& a = {},
                                 const std::string& b = {});

  const std::chrono::milliseconds quiet_;
  std::mutex mutex_;
  Wire wire_;
};

// What the store notes when the connection of a rank has ended.
std::string closedName(int rank);

}  // namespace engine
