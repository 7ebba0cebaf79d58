#include "wire.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace engine {

namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses resolve(const Endpoint& of, int type) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = type;
  const int fault = getaddrinfo(of.host.c_str(), std::to_string(of.port).c_str(), &hints, &found);
  if (fault != 0) throw WireError("the address " + of.host + " was not found: " + gai_strerror(fault));
  return Addresses(found, &freeaddrinfo);
}

std::string reason(int fault) { return std::strerror(fault); }

void prepare(int socket) {
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
  // Programs that this one starts must not keep its connections open.
  fcntl(socket, F_SETFD, FD_CLOEXEC);
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool again(int fault) { return fault == EAGAIN || fault == EWOULDBLOCK || fault == EINTR; }

}  // namespace

Wire& Wire::operator=(Wire&& other) noexcept {
  close();
  socket_ = other.release();
  return *this;
}

int Wire::release() {
  const int socket = socket_;
  socket_ = -1;
  return socket;
}

void Wire::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

void Wire::await(short events, Clock::time_point deadline) const {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd one{socket_, events, 0};
    const int ready = left > 0 ? poll(&one, 1, static_cast<int>(std::min<int64_t>(left, 1000))) : 0;
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) throw WireError(reason(errno));
    if (left <= 0) throw QuietError("no answer");
  }
}

Wire Wire::connect(const Endpoint& to, Clock::time_point deadline) {
  const auto addresses = resolve(to, SOCK_STREAM);
  int fault = 0;
  for (auto* at = addresses.get(); at != nullptr; at = at->ai_next) {
    Wire wire(::socket(at->ai_family, SOCK_STREAM, 0));
    if (!wire.open()) continue;
    prepare(wire.socket_);
    if (::connect(wire.socket_, at->ai_addr, at->ai_addrlen) == 0) return wire;
    fault = errno;
    if (fault == EINPROGRESS) {
      wire.await(POLLOUT, deadline);
      socklen_t length = sizeof fault;
      getsockopt(wire.socket_, SOL_SOCKET, SO_ERROR, &fault, &length);
      if (fault == 0) return wire;
    }
  }
  throw WireError(reason(fault));
}

Wire Wire::listen(const Endpoint& at) {
  const auto addresses = resolve(at, SOCK_STREAM);
  int fault = 0;
  for (auto* address = addresses.get(); address != nullptr; address = address->ai_next) {
    Wire wire(::socket(address->ai_family, SOCK_STREAM, 0));
    if (!wire.open()) continue;
    const int on = 1;
    // A port that an ended run used is free at once.
    setsockopt(wire.socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    prepare(wire.socket_);
    if (bind(wire.socket_, address->ai_addr, address->ai_addrlen) == 0 && ::listen(wire.socket_, SOMAXCONN) == 0)
      return wire;
    fault = errno;
  }
  if (fault == EADDRINUSE) throw WireError("another program listens there: end it, or choose another MASTER_PORT");
  if (fault == EADDRNOTAVAIL)
    throw WireError(at.host + " is no address of this machine: HSN_LISTEN names the one to listen on");
  throw WireError(reason(fault));
}

Wire Wire::accept() const {
  Wire wire(::accept(socket_, nullptr, nullptr));
  if (wire.open()) prepare(wire.socket_);
  return wire;
}

void Wire::send(const std::string& bytes, Clock::time_point deadline) const {
  for (size_t sent = 0; sent < bytes.size();) {
    const auto count = ::write(socket_, bytes.data() + sent, bytes.size() - sent);
    if (count > 0) {
      sent += static_cast<size_t>(count);
    } else if (again(errno)) {
      await(POLLOUT, deadline);
    } else {
      throw WireError(reason(errno));
    }
  }
}

std::string Wire::receive(size_t count, Clock::time_point deadline) const {
  std::string bytes(count, '\0');
  for (size_t got = 0; got < count;) {
    const auto some = ::read(socket_, &bytes[got], count - got);
    if (some > 0) {
      got += static_cast<size_t>(some);
    } else if (some == 0) {
      throw WireError("the connection was closed");
    } else if (again(errno)) {
      await(POLLIN, deadline);
    } else {
      throw WireError(reason(errno));
    }
  }
  return bytes;
}

bool Wire::drain(std::string& into) const {
  char buffer[1 << 14];
  const auto count = ::read(socket_, buffer, sizeof buffer);
  if (count > 0) into.append(buffer, static_cast<size_t>(count));
  return count > 0 || (count < 0 && again(errno));
}

bool Wire::push(std::string& from) const {
  const auto count = ::write(socket_, from.data(), from.size());
  if (count > 0) from.erase(0, static_cast<size_t>(count));
  return count >= 0 || again(errno);
}

std::string localAddress(const Endpoint& to) {
  const auto addresses = resolve(to, SOCK_DGRAM);
  for (auto* at = addresses.get(); at != nullptr; at = at->ai_next) {
    const Wire wire(::socket(at->ai_family, SOCK_DGRAM, 0));
    sockaddr_storage name{};
    socklen_t length = sizeof name;
    char buffer[NI_MAXHOST];
    auto* generic = reinterpret_cast<sockaddr*>(&name);
    if (wire.open() && ::connect(wire.socket(), at->ai_addr, at->ai_addrlen) == 0 &&
        getsockname(wire.socket(), generic, &length) == 0 &&
        getnameinfo(generic, length, buffer, sizeof buffer, nullptr, 0, NI_NUMERICHOST) == 0) {
      return buffer;
    }
  }
  return {};
}

}  // namespace engine
