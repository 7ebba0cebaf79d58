// Elements into tensors and out of them.
#pragma once
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>

#include "arguments.h"
#include "checks.h"

namespace engine {
namespace {

// Element types that JavaScript has names for (dtype.ts).
at::ScalarType elementType(Args info, size_t i) {
  const auto type = static_cast<at::ScalarType>(whole(info, i, 0, 127));
  switch (type) {
    case at::kByte:
    case at::kChar:
    case at::kShort:
    case at::kInt:
    case at::kLong:
    case at::kHalf:
    case at::kFloat:
    case at::kDouble:
    case at::kBool:
    case at::kBFloat16: return type;
    default: throw KindError("no element type has this number: " + std::to_string(static_cast<int>(type)));
  }
}

// What a typed array shows of its buffer at this moment: a getter that ran since may have taken the buffer away.
struct Bytes {
  const uint8_t* data = nullptr;
  size_t count = 0;
};

Bytes bytesOf(const Napi::TypedArray& view) {
  void* data = nullptr;
  size_t length = 0;
  if (napi_get_typedarray_info(view.Env(), view, nullptr, &length, &data, nullptr, nullptr) != napi_ok)
    throw KindError("a typed array that cannot be read");
  return {static_cast<const uint8_t*>(data), length * view.ElementSize()};
}

// A byte other than 0 and 1 in a C++ bool is undefined behaviour.
void keepBools(const at::Tensor& written) {
  if (written.scalar_type() != at::kBool) return;
  auto* bytes = static_cast<uint8_t*>(written.data_ptr());
  for (size_t i = 0; i < written.nbytes(); ++i) bytes[i] = bytes[i] != 0;
}

Napi::Value FromData(Args info, State& state) {
  if (!info[0].IsTypedArray()) throw KindError("expected a typed array");
  const auto shape = shapeOf(info[1]);
  const auto type = elementType(info, 2);
  auto out = at::empty(shape, at::TensorOptions().dtype(type));
  const auto given = bytesOf(info[0].As<Napi::TypedArray>());
  if (out.nbytes() != given.count) {
    throw KindError("shape needs " + std::to_string(out.nbytes()) + " bytes, the data has " +
                    std::to_string(given.count));
  }
  if (given.count > 0) std::memcpy(out.data_ptr(), given.data, given.count);
  keepBools(out);
  return handle(info, state, out);
}

// V8 ends the process when Node-API asks for a buffer it cannot get; JavaScript's own constructor throws instead.
Napi::ArrayBuffer newBuffer(Napi::Env env, size_t bytes) {
  if (bytes < (size_t{1} << 20)) return Napi::ArrayBuffer::New(env, bytes);
  try {
    const auto constructor = env.Global().Get("ArrayBuffer").As<Napi::Function>();
    return constructor.New({Napi::Number::New(env, static_cast<double>(bytes))}).As<Napi::ArrayBuffer>();
  } catch (const Napi::Error&) {
    TORCH_CHECK(false, "out of memory: JavaScript cannot hold a buffer of ", bytes, " bytes");
  }
}

Napi::Value ReadData(Args info, State& state) {
  at::NoGradGuard guard;
  const auto source = readable(tensor(info, state, 0).detach().to(at::kCPU));
  TORCH_CHECK(inMemory(source), "expects a dense tensor");
  auto out = newBuffer(info.Env(), source.nbytes());
  if (source.nbytes() > 0) std::memcpy(out.Data(), source.data_ptr(), source.nbytes());
  return out;
}

// Bytes from a place of an open file; fewer where it ends.
size_t readSome(int descriptor, char* data, size_t bytes, off_t start) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t count = pread(descriptor, data + done, bytes - done, start + static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::runtime_error(std::strerror(errno));
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

// Fills a tensor from an open file, in parts that threads share, and returns how many bytes came. Untrusted files are
// never mapped: one that is cut while it is mapped ends the process.
Napi::Value ReadFile(Args info, State& state) {
  const int descriptor = static_cast<int>(whole(info, 0, 0, std::numeric_limits<int>::max()));
  const auto start = static_cast<off_t>(number(info, 1));
  const auto& target = tensor(info, state, 2);
  if (!inMemory(target) || !target.is_contiguous()) throw KindError("expected a contiguous tensor on the CPU");
  auto* data = static_cast<char*>(target.data_ptr());
  constexpr size_t part = size_t{8} << 20;
  const auto parts = static_cast<int64_t>((target.nbytes() + part - 1) / part);
  std::atomic<size_t> done{0};
  at::parallel_for(0, parts, 1, [&](int64_t first, int64_t end) {
    for (auto i = first; i < end; ++i) {
      const size_t at = static_cast<size_t>(i) * part;
      const size_t bytes = std::min(part, target.nbytes() - at);
      done += readSome(descriptor, data + at, bytes, start + static_cast<off_t>(at));
    }
  });
  keepBools(target);
  return Napi::Number::New(info.Env(), static_cast<double>(done));
}

Napi::Value Item(Args info, State& state) {
  const auto value = tensor(info, state, 0).item();
  return Napi::Number::New(info.Env(), value.isBoolean() ? value.toBool() : value.toDouble());
}

Napi::Value Shape(Args info, State& state) {
  const auto sizes = tensor(info, state, 0).sizes();
  auto out = Napi::Array::New(info.Env(), sizes.size());
  for (uint32_t i = 0; i < sizes.size(); ++i) out.Set(i, static_cast<double>(sizes[i]));
  return out;
}

Napi::Value TypeOf(Args info, State& state) {
  return Napi::Number::New(info.Env(), static_cast<int>(tensor(info, state, 0).scalar_type()));
}

Napi::Value DeviceOf(Args info, State& state) {
  return Napi::String::New(info.Env(), tensor(info, state, 0).device().str());
}

}  // namespace
}  // namespace engine
