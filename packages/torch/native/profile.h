// Records every operator that libtorch runs, forward and backward, while a profile is on; free while it is off.
#pragma once
#include <ATen/record_function.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <chrono>
#include <mutex>
#include <sstream>
#include <thread>
#if !defined(_WIN32)
#include <dlfcn.h>
#endif

#include "state.h"

namespace engine {
namespace {

struct Event {
  std::string name;
  std::string shapes;
  int64_t start = 0;
  int64_t end = 0;
  size_t thread = 0;
  bool backward = false;
  int64_t allocated = 0;
  int64_t live = 0;
};

struct Recording {
  std::mutex guard;
  std::vector<Event> events;
  std::atomic<int64_t> allocated{0};
  std::atomic<int64_t> live{0};
};

// Callbacks of libtorch are plain functions, so what they write to is one for the process.
Recording& recording() {
  static Recording one;
  return one;
}

struct Context : at::ObserverContext {
  Event event;
};

// libtorch's allocators report here. Releases differ in how wide the totals are: whichever signature fits overrides.
struct MemoryWatch : c10::MemoryReportingInfoBase {
  void reportMemoryUsage(void*, int64_t size, int64_t, int64_t, c10::Device) { count(size); }
  void reportMemoryUsage(void*, int64_t size, size_t, size_t, c10::Device) { count(size); }
  bool memoryProfilingEnabled() const override { return true; }

 private:
  static void count(int64_t size) {
    recording().live += size;
    if (size > 0) recording().allocated += size;
  }
};

// The same clock as Node's process.hrtime.
int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void writeShape(std::ostringstream& out, const at::Tensor& tensor) {
  out << (out.tellp() > 0 ? " " : "") << tensor.sizes();
}

std::string shapesOf(const at::RecordFunction& function) {
  std::ostringstream out;
  for (const auto& input : function.inputs()) {
    if (input.isTensor() && input.toTensor().defined()) {
      writeShape(out, input.toTensor());
    } else if (input.isTensorList()) {
      for (const auto& tensor : input.toTensorVector()) writeShape(out, tensor);
    }
  }
  return out.str();
}

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
  auto context = std::make_unique<Context>();
  auto& event = context->event;
  event.name = function.name();
  event.shapes = shapesOf(function);
  event.thread = std::hash<std::thread::id>()(std::this_thread::get_id());
  event.backward = function.scope() == at::RecordScope::BACKWARD_FUNCTION;
  event.allocated = recording().allocated;
  event.start = now();
  return context;
}

void finish(const at::RecordFunction&, at::ObserverContext* context) {
  // Without a context `begin` has failed, which libtorch logs and passes over.
  if (!context) return;
  auto& event = static_cast<Context*>(context)->event;
  event.end = now();
  event.allocated = recording().allocated - event.allocated;
  event.live = recording().live;
  const std::lock_guard<std::mutex> lock(recording().guard);
  recording().events.push_back(std::move(event));
}

at::CallbackHandle running = 0;
bool isRunning = false;

// Where libtorch logs by glog, it would warn of every block that is older than the profile.
void allowWarnings(bool allowed) {
#if !defined(_WIN32)
  if (auto* least = static_cast<int*>(dlsym(RTLD_DEFAULT, "_ZN3fLI17FLAGS_minloglevelE"))) *least = allowed ? 0 : 2;
#endif
}

napi_value Start(napi_env env, napi_callback_info) {
  return guarded(env, [&]() -> napi_value {
    if (isRunning) throw KindError("a profile is being recorded already");
    recording().events.clear();
    recording().allocated = 0;
    recording().live = 0;
    allowWarnings(false);
    c10::ThreadLocalDebugInfo::_push(c10::DebugInfoKind::PROFILER_STATE, std::make_shared<MemoryWatch>());
    running = at::addGlobalCallback(at::RecordFunctionCallback(begin, finish)
                                        .needsInputs(true)
                                        .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
    isRunning = true;
    return nullptr;
  });
}

Napi::Object toObject(Napi::Env env, const Event& event) {
  auto out = Napi::Object::New(env);
  out.Set("name", event.name);
  out.Set("shapes", event.shapes);
  out.Set("start", static_cast<double>(event.start));
  out.Set("nanoseconds", static_cast<double>(event.end - event.start));
  out.Set("thread", static_cast<double>(event.thread % 100000));
  out.Set("backward", event.backward);
  out.Set("allocated", static_cast<double>(event.allocated));
  out.Set("live", static_cast<double>(event.live));
  return out;
}

napi_value Stop(napi_env env, napi_callback_info) {
  return guarded(env, [&]() -> napi_value {
    if (!isRunning) throw KindError("no profile is being recorded");
    at::removeCallback(running);
    c10::ThreadLocalDebugInfo::_pop(c10::DebugInfoKind::PROFILER_STATE);
    allowWarnings(true);
    isRunning = false;
    const std::lock_guard<std::mutex> lock(recording().guard);
    const auto& events = recording().events;
    auto out = Napi::Array::New(env, events.size());
    for (uint32_t i = 0; i < events.size(); ++i) out.Set(i, toObject(env, events[i]));
    recording().events.clear();
    return out;
  });
}

// Adds the functions of this file.
void exportProfile(Napi::Env env, Napi::Object exports) {
  const auto add = [&](const char* name, napi_callback body) {
    napi_value function;
    napi_create_function(env, name, NAPI_AUTO_LENGTH, body, nullptr, &function);
    exports.Set(name, Napi::Value(env, function));
  };
  add("profileStart", Start);
  add("profileStop", Stop);
}

}  // namespace
}  // namespace engine
