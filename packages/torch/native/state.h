// What one JavaScript environment (main thread or worker) owns: tensors, generators, resolved operators.
#pragma once
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <napi.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace engine {

// A wrong kind of argument, found before libtorch is called.
struct KindError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Another process of the group has ended.
struct LostError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Slots with a generation each, so that a stale handle is recognised instead of reaching another tensor.
// Each table has its own range of numbers, so that a generator is never taken for a tensor.
template <typename T, int64_t Base>
class Slots {
 public:
  int64_t put(T value) {
    uint32_t index;
    if (free_.empty()) {
      index = static_cast<uint32_t>(values_.size());
      values_.push_back(std::move(value));
      generations_.push_back(1);
    } else {
      index = free_.back();
      free_.pop_back();
      values_[index] = std::move(value);
    }
    ++live_;
    return Base + static_cast<int64_t>(generations_[index]) * kStride + index;
  }
  T& get(double handle, const char* what) { return values_[checked(handle, what)]; }
  T take(double handle, const char* what) {
    const auto index = checked(handle, what);
    T value = std::move(values_[index]);
    values_[index] = T();
    ++generations_[index];
    free_.push_back(index);
    --live_;
    return value;
  }
  uint32_t index(double handle, const char* what) const { return checked(handle, what); }
  int64_t live() const { return live_; }

 private:
  static constexpr int64_t kStride = int64_t{1} << 24;
  uint32_t checked(double handle, const char* what) const {
    if (handle >= Base + kStride && handle < 9007199254740992.0) {
      const auto h = static_cast<int64_t>(handle) - Base;
      const auto index = static_cast<uint32_t>(h % kStride);
      if (index < values_.size() && generations_[index] == h / kStride) return index;
    }
    throw KindError(std::string("expected a live ") + what + ", got a handle that is not in use");
  }
  std::vector<T> values_;
  std::vector<int64_t> generations_;
  std::vector<uint32_t> free_;
  int64_t live_ = 0;
};

// Those that were resolved; known to dispatch.cc.
struct Operators;
class Group;
class GradientBuckets;

struct State {
  Slots<at::Tensor, 0> tensors;
  Slots<at::Generator, int64_t{1} << 52> generators;
  std::vector<int64_t> tensorBytes;
  std::shared_ptr<Operators> operators;
  // The processes this one computes with, and the gradients it averages with them.
  std::shared_ptr<Group> group;
  std::shared_ptr<GradientBuckets> buckets;
  // Whether calls with tensors of two devices are refused; libtorch's meta device takes them.
  bool oneDevice = false;
  int64_t bytes = 0;
  int64_t unreportedBytes = 0;

  int64_t put(napi_env env, at::Tensor tensor);
  void release(napi_env env, double handle);
  at::Tensor& tensor(double handle) { return tensors.get(handle, "tensor"); }

 private:
  void account(napi_env env, int64_t change);
};

State* stateOf(napi_callback_info info, napi_env env, size_t* argc, napi_value* argv);
// Lets operators of a library be resolved by this namespace.
void admitSpace(State& state, const std::string& name);
uint32_t resolve(State& state, const std::string& name, const std::string& overload);
napi_value callOperator(napi_env env, State& state, size_t argc, const napi_value* argv);
double numberOf(napi_env env, napi_value value, const char* what);
// Adds the functions of distributed.cc.
void exportCollectives(Napi::Env env, Napi::Object exports, State* state);

// One place where C++ exceptions become JavaScript errors; `code` tells TypeScript which of its classes to throw.
template <typename F>
napi_value guarded(napi_env env, F&& body) {
  try {
    return body();
  } catch (const KindError& error) {
    napi_throw_error(env, "HSN_KIND", error.what());
  } catch (const LostError& error) {
    napi_throw_error(env, "HSN_LOST", error.what());
  } catch (const c10::Error& error) {
    napi_throw_error(env, "HSN_TORCH", error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    napi_throw_error(env, "HSN_TORCH", "out of memory");
  } catch (const std::exception& error) {
    napi_throw_error(env, "HSN_TORCH", error.what());
  }
  return nullptr;
}

}  // namespace engine
