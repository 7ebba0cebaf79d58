// TCP connections whose every call ends by a deadline.
#pragma once
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace engine {

using Clock = std::chrono::steady_clock;

// A host and a port, as users give them.
struct Endpoint {
  std::string host;
  uint16_t port;
  std::string text() const { return host + ":" + std::to_string(port); }
};

// A connection that broke, or did not come about.
struct WireError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Nothing came before the deadline.
struct QuietError : WireError {
  using WireError::WireError;
};

// Owns a socket.
class Wire {
 public:
  explicit Wire(int socket = -1) : socket_(socket) {}
  Wire(Wire&& other) noexcept : socket_(other.release()) {}
  Wire& operator=(Wire&& other) noexcept;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire() { close(); }

  // Tries each address of the host once.
  static Wire connect(const Endpoint& to, Clock::time_point deadline);
  // Listens on the address of this host alone, not on all interfaces.
  static Wire listen(const Endpoint& at);
  // The next one that connects; none when nobody waits.
  Wire accept() const;

  void send(const std::string& bytes, Clock::time_point deadline) const;
  std::string receive(size_t count, Clock::time_point deadline) const;
  // Without waiting: false when the other side has closed.
  bool drain(std::string& into) const;
  bool push(std::string& from) const;

  int socket() const { return socket_; }
  bool open() const { return socket_ >= 0; }
  void close();

 private:
  int release();
  void await(short events, Clock::time_point deadline) const;
  int socket_;
};

// The address of this machine from which packets to `to` leave; empty where there is none.
std::string localAddress(const Endpoint& to);

}  // namespace engine
