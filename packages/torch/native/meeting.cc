#include "meeting.h"

#include <arpa/inet.h>
#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace engine {

namespace {

using namespace std::chrono_literals;

// Both sides say this first, so that another program on the port is told from a rank.
const std::string kGreeting = "hsn group 1\n";
constexpr size_t kNumber = 4;
// A rank's record is a few thousand bytes: whoever asks for more is no rank.
constexpr uint32_t kLongest = 1 << 20;
constexpr auto kWelcome = 30s;
constexpr auto kPause = 50ms;
constexpr size_t kRequestHead = 1 + 3 * kNumber;
constexpr size_t kReplyHead = 1 + kNumber;
enum Operation : char { Set = 's', Get = 'g', CompareSet = 'c', Add = 'a', Remove = 'r', Count = 'n' };

std::string number(uint32_t value) {
  const uint32_t ordered = htonl(value);
  return {reinterpret_cast<const char*>(&ordered), kNumber};
}
uint32_t numberAt(const std::string& bytes, size_t at) {
  uint32_t ordered;
  std::memcpy(&ordered, bytes.data() + at, kNumber);
  return ntohl(ordered);
}
std::string framed(bool found, const std::string& value) {
  return std::string(1, found ? '1' : '0') + number(static_cast<uint32_t>(value.size())) + value;
}
std::string seconds(std::chrono::milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", static_cast<double>(time.count()) / 1000);
  return text;
}
// Something that is no rank has answered; the message is what it said.
struct ForeignError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The start of what another program said, as a line of plain letters.
std::string shown(std::string text) {
  for (auto& letter : text) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return "\"" + text + "\"";
}

}  // namespace

std::string closedName(int rank) { return "closed/" + std::to_string(rank); }

MeetingPlace::MeetingPlace(const Endpoint& at) : door_(Wire::listen(at)) {
  thread_ = std::thread([this] { run(); });
}

MeetingPlace::~MeetingPlace() {
  closing_ = true;
  thread_.join();
}

void MeetingPlace::run() {
  while (!closing_) {
    if (shut_) door_.close();
    // poll passes over a socket of -1.
    std::vector<pollfd> waiting{{door_.socket(), POLLIN, 0}};
    for (const auto& guest : guests_)
      waiting.push_back({guest.wire.socket(), static_cast<short>(guest.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    poll(waiting.data(), waiting.size(), 100);
    for (size_t i = guests_.size(); i-- > 0;) {
      if (serve(guests_[i], waiting[i + 1].revents)) continue;
      if (guests_[i].welcome) texts_[closedName(guests_[i].rank)] = "1";
      guests_.erase(guests_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (waiting[0].revents != 0) admit();
  }
}

void MeetingPlace::admit() {
  Wire wire = door_.accept();
  if (wire.open()) guests_.push_back({std::move(wire), -1, Clock::now(), "", "", false});
}

// False when the connection has ended, or is none of a rank.
bool MeetingPlace::serve(Guest& guest, short events) {
  if (!guest.welcome && Clock::now() - guest.since > kWelcome) return false;
  if (events == 0) return true;
  if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && !guest.wire.drain(guest.in)) return false;
  try {
    while (guest.welcome ? answer(guest) : greet(guest)) {
    }
  } catch (const WireError&) {
    return false;
  }
  return guest.out.empty() || guest.wire.push(guest.out);
}

// True when the guest has just said that it is a rank.
bool MeetingPlace::greet(Guest& guest) {
  const auto length = std::min(guest.in.size(), kGreeting.size());
  if (guest.in.compare(0, length, kGreeting, 0, length) != 0) throw WireError("this is no rank");
  if (guest.in.size() < kGreeting.size() + kNumber) return false;
  guest.rank = static_cast<int>(numberAt(guest.in, kGreeting.size()));
  guest.in.erase(0, kGreeting.size() + kNumber);
  guest.out += kGreeting;
  guest.welcome = true;
  return true;
}

// Answers one request where a whole one has come.
bool MeetingPlace::answer(Guest& guest) {
  auto& in = guest.in;
  if (in.size() < kRequestHead) return false;
  size_t lengths[3], whole = kRequestHead;
  for (size_t i = 0; i < 3; ++i) {
    lengths[i] = numberAt(in, 1 + i * kNumber);
    if (lengths[i] > kLongest) throw WireError("no rank says so much");
    whole += lengths[i];
  }
  if (in.size() < whole) return false;
  const auto name = in.substr(kRequestHead, lengths[0]);
  const auto a = in.substr(kRequestHead + lengths[0], lengths[1]);
  const auto b = in.substr(kRequestHead + lengths[0] + lengths[1], lengths[2]);
  guest.out += reply(in[0], name, a, b);
  in.erase(0, whole);
  return true;
}

std::string MeetingPlace::reply(char operation, const std::string& name, const std::string& a, const std::string& b) {
  const auto found = texts_.find(name);
  const bool there = found != texts_.end();
  switch (operation) {
    case Set: texts_[name] = a; return framed(true, "");
    case Get: return framed(there, there ? found->second : "");
    case CompareSet:
      if (there ? found->second == a : a.empty()) texts_[name] = b;
      return framed(true, texts_.count(name) > 0 ? texts_[name] : a);
    case Add: {
      const auto sum = (there ? std::atoll(found->second.c_str()) : 0) + std::atoll(a.c_str());
      texts_[name] = std::to_string(sum);
      return framed(true, texts_[name]);
    }
    case Remove: texts_.erase(name); return framed(there, "");
    case Count: return framed(true, std::to_string(texts_.size()));
    default: return framed(false, "");
  }
}

Meeting::Meeting(const Endpoint& at, int rank, std::chrono::milliseconds patience, std::chrono::milliseconds quiet)
    : quiet_(quiet) {
  const auto until = Clock::now() + patience;
  const auto expected = "rank " + std::to_string(rank) + " expected the store of rank 0 at " + at.text() + ", ";
  for (;;) {
    const auto limit =
        std::min(quiet, std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()) + 1ms);
    const auto deadline = Clock::now() + limit;
    std::string fault;
    try {
      wire_ = Wire::connect(at, deadline);
      if (greet(rank, deadline)) return;
      fault = "which closed the connection; is another program listening there?";
    } catch (const QuietError&) {
      if (wire_.open())
        throw WireError(expected + "which answered nothing within " + seconds(limit) +
                        "; is another program listening there?");
      fault = "which cannot be reached; is MASTER_ADDR the machine of rank 0, and is no firewall between?";
    } catch (const ForeignError& error) {
      throw WireError(expected + "which answered " + error.what() + "; is another program listening there?");
    } catch (const WireError& error) {
      fault = "but nobody listened there within " + seconds(patience) + " (" + error.what() + ")";
    }
    wire_.close();
    // A last try that had no time would find another fault than the true one.
    if (Clock::now() + 2 * kPause > until) throw WireError(expected + fault);
    std::this_thread::sleep_for(kPause);
  }
}

// False when the other side closed without a word, as a store does that is just ending.
bool Meeting::greet(int rank, Clock::time_point deadline) {
  std::string heard;
  try {
    wire_.send(kGreeting + number(static_cast<uint32_t>(rank)), deadline);
    while (heard.size() < kGreeting.size()) heard += wire_.receive(1, deadline);
  } catch (const QuietError&) {
    if (heard.empty()) throw;
  } catch (const WireError&) {
    if (heard.empty()) return false;
  }
  if (heard != kGreeting) throw ForeignError(shown(heard));
  return true;
}

std::optional<std::string> Meeting::ask(char operation, const std::string& name, const std::string& a,
                                        const std::string& b) {
  std::lock_guard<std::mutex> guard(mutex_);
  if (!wire_.open()) throw WireError("the connection to the store was closed");
  if (std::max({name.size(), a.size(), b.size()}) > kLongest)
    throw std::length_error("a text for the store is longer than 1 MB");
  const auto deadline = Clock::now() + quiet_;
  const auto length = [](const std::string& text) { return number(static_cast<uint32_t>(text.size())); };
  try {
    wire_.send(std::string(1, operation) + length(name) + length(a) + length(b) + name + a + b, deadline);
    const auto head = wire_.receive(kReplyHead, deadline);
    const auto value = wire_.receive(std::min(numberAt(head, 1), kLongest), deadline);
    if (head[0] != '1') return std::nullopt;
    return value;
  } catch (const WireError&) {
    // Half an answer may be on its way: what comes next would be taken for another's.
    wire_.close();
    throw;
  }
}

void Meeting::set(const std::string& name, const std::string& value) { ask(Set, name, value); }
std::optional<std::string> Meeting::get(const std::string& name) { return ask(Get, name); }
std::string Meeting::compareSet(const std::string& name, const std::string& expected, const std::string& desired) {
  return ask(CompareSet, name, expected, desired).value();
}
int64_t Meeting::add(const std::string& name, int64_t amount) {
  return std::atoll(ask(Add, name, std::to_string(amount)).value().c_str());
}
bool Meeting::remove(const std::string& name) { return ask(Remove, name).has_value(); }
int64_t Meeting::count() { return std::atoll(ask(Count, "").value().c_str()); }

}  // namespace engine
