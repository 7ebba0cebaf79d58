// The Node-API surface: handles, data in and out, autograd, random state, memory, and the two kernels libtorch lacks on
// CPU.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/util/Logging.h>
#include <torch/csrc/api/include/torch/version.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <cstring>
#if !defined(_WIN32)
#include <dlfcn.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "adam.h"
#include "arguments.h"
#include "data.h"
#include "dropout-mask.h"
#include "meta.h"
#include "profile.h"

// Of autocast_mode.h, which takes 5 s to read.
#define ENGINE_ONE_AUTOCAST (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4))
namespace at::autocast {
TORCH_API void clear_cache();
#if ENGINE_ONE_AUTOCAST
TORCH_API void set_autocast_dtype(at::DeviceType device, at::ScalarType type);
#else
TORCH_API void set_autocast_gpu_dtype(at::ScalarType type);
#endif
}  // namespace at::autocast

namespace engine {

// V8 is told about tensor memory in steps of this many bytes: the call is too slow for every small tensor.
constexpr int64_t kReportStep = int64_t{1} << 22;
constexpr size_t kMaxArguments = 40;

void State::account(napi_env env, int64_t change) {
  bytes += change;
  unreportedBytes += change;
  if (std::abs(unreportedBytes) < kReportStep) return;
  int64_t total;
  napi_adjust_external_memory(env, unreportedBytes, &total);
  unreportedBytes = 0;
}

int64_t State::put(napi_env env, at::Tensor tensor) {
  // A view shares its storage with a tensor that is counted already.
  const bool owns = tensor.has_storage() && tensor.storage().use_count() == 1;
  const int64_t size = owns ? static_cast<int64_t>(tensor.storage().nbytes()) : 0;
  const auto handle = tensors.put(std::move(tensor));
  const auto index = tensors.index(static_cast<double>(handle), "tensor");
  if (index >= tensorBytes.size()) tensorBytes.resize(index + 1);
  tensorBytes[index] = size;
  account(env, size);
  return handle;
}

void State::release(napi_env env, double handle) {
  const auto index = tensors.index(handle, "tensor");
  const auto size = tensorBytes[index];
  tensors.take(handle, "tensor");
  account(env, -size);
}

State* stateOf(napi_callback_info info, napi_env env, size_t* argc, napi_value* argv) {
  void* data = nullptr;
  napi_get_cb_info(env, info, argc, argv, nullptr, &data);
  return static_cast<State*>(data);
}

double numberOf(napi_env env, napi_value value, const char* what) {
  double out;
  if (napi_get_value_double(env, value, &out) != napi_ok) throw KindError(std::string(what) + ": expected a number");
  return out;
}

namespace {

napi_value Call(napi_env env, napi_callback_info info) {
  napi_value argv[kMaxArguments];
  size_t argc = kMaxArguments;
  State* state = stateOf(info, env, &argc, argv);
  return guarded(env, [&] {
    if (argc < 1 || argc > kMaxArguments) throw KindError("a call names an operator");
    return callOperator(env, *state, argc, argv);
  });
}

napi_value Free(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  size_t argc = 1;
  State* state = stateOf(info, env, &argc, argv);
  return guarded(env, [&]() -> napi_value {
    state->release(env, numberOf(env, argv[0], "tensor"));
    return nullptr;
  });
}

Napi::Value Resolve(Args info, State& state) {
  return Napi::Number::New(info.Env(), resolve(state, info[0].ToString(), info[1].ToString()));
}

Napi::Value Backward(Args info, State& state) {
  const auto gradient = info[1].IsNumber() ? tensor(info, state, 1) : at::Tensor();
  torch::autograd::backward({tensor(info, state, 0)}, {gradient}, flag(info, 2), flag(info, 3));
  return info.Env().Undefined();
}

Napi::Value Grad(Args info, State& state) {
  const auto outputs = tensorsOf(info[0], state);
  const auto gradients = info[2].IsArray() ? tensorsOf(info[2], state) : std::vector<at::Tensor>(outputs.size());
  const auto found =
      torch::autograd::grad(outputs, tensorsOf(info[1], state), gradients, flag(info, 3), flag(info, 4), true);
  auto out = Napi::Array::New(info.Env(), found.size());
  for (uint32_t i = 0; i < found.size(); ++i) {
    out.Set(i, found[i].defined() ? handle(info, state, found[i]) : info.Env().Null());
  }
  return out;
}

Napi::Value GradOf(Args info, State& state) {
  const auto& gradient = tensor(info, state, 0).grad();
  return gradient.defined() ? handle(info, state, gradient) : info.Env().Null();
}

Napi::Value SetGrad(Args info, State& state) {
  auto& owner = tensor(info, state, 0);
  const auto gradient = info[1].IsNumber() ? tensor(info, state, 1) : at::Tensor();
  // The fused Adam reads as many elements of the gradient as the weight has.
  TORCH_CHECK(
      !gradient.defined() || (gradient.sizes() == owner.sizes() && gradient.scalar_type() == owner.scalar_type() &&
                              gradient.device() == owner.device()),
      "a gradient has its tensor's shape, element type and device");
  owner.mutable_grad() = gradient;
  return info.Env().Undefined();
}

Napi::Value RequireGrad(Args info, State& state) {
  tensor(info, state, 0).set_requires_grad(flag(info, 1));
  return info.Env().Undefined();
}

Napi::Value RequiresGrad(Args info, State& state) {
  return Napi::Boolean::New(info.Env(), tensor(info, state, 0).requires_grad());
}

Napi::Value GradMode(Args info, State&) {
  const bool before = at::GradMode::is_enabled();
  at::GradMode::set_enabled(flag(info, 0));
  return Napi::Boolean::New(info.Env(), before);
}

// Products of matrices in bfloat16 where libtorch deems it safe; their weights stay as they are.
Napi::Value Autocast(Args info, State&) {
  const bool cuda = c10::Device(info[1].ToString().Utf8Value()).is_cuda();
  // bfloat16 is what libtorch takes on the CPU where nobody says otherwise; on a graphics card it would take float16.
#if ENGINE_ONE_AUTOCAST
  if (cuda) at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
#else
  if (cuda) at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
#endif
  // As autocast_mode.h does.
  c10::impl::tls_set_dispatch_key_excluded(cuda ? c10::DispatchKey::AutocastCUDA : c10::DispatchKey::AutocastCPU,
                                           !flag(info, 0));
  // Weights cast once are kept until then; after an update they would be stale.
  if (!flag(info, 0)) at::autocast::clear_cache();
  return info.Env().Undefined();
}

Napi::Value NewGenerator(Args info, State& state) {
  auto generator = at::detail::createCPUGenerator();
  bool lossless;
  if (!info[0].IsBigInt()) throw KindError("a seed is a bigint");
  generator.set_current_seed(info[0].As<Napi::BigInt>().Uint64Value(&lossless));
  return Napi::Number::New(info.Env(), static_cast<double>(state.generators.put(generator)));
}

Napi::Value FreeGenerator(Args info, State& state) {
  state.generators.take(number(info, 0), "generator");
  return info.Env().Undefined();
}

Napi::Value GeneratorState(Args info, State& state) {
  return handle(info, state, state.generators.get(number(info, 0), "generator").get_state());
}

Napi::Value RestoreGenerator(Args info, State& state) {
  state.generators.get(number(info, 0), "generator").set_state(tensor(info, state, 1));
  return info.Env().Undefined();
}

ENGINE_CLONES void fillMask(float* out, int64_t begin, int64_t end, const Drop drop) {
  for (int64_t i = begin; i < end; ++i) out[i] = drop.at(i);
}

// Dropout mask with an explicit generator: 0 with probability p, else 1/(1-p). libtorch's own draws serially.
// `offset` elements of a larger mask lie before it: a process that holds some rows of a batch gets theirs.
Napi::Value DropoutMask(Args info, State& state) {
  at::NoGradGuard guard;
  const auto offset = info[3].IsNumber() ? whole(info, 3, 0, kMostWhole) : 0;
  const auto p = number(info, 1);
  checkDropout(p, offset);
  const Drop drop(p, drawSeed(state.generators.get(number(info, 2), "generator")), offset);
  const auto shape = shapeOf(info[0]);
  if (info[4].IsString()) return handle(info, state, maskOn(c10::Device(info[4].ToString().Utf8Value()), shape, drop));
  auto out = at::empty(shape, at::kFloat);
  float* data = out.data_ptr<float>();
  at::parallel_for(0, out.numel(), 65536, [&](int64_t begin, int64_t end) { fillMask(data, begin, end, drop); });
  return handle(info, state, out);
}

// OpenBLAS keeps its own number of threads, which libtorch built without MKL never sets.
void setBlasThreads(int count) {
#if !defined(_WIN32)
  if (auto* set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(count);
#endif
}

Napi::Value Threads(Args info, State&) {
  if (info[0].IsNumber()) {
    const auto count = static_cast<int>(whole(info, 0, 1, 1 << 16));
    at::set_num_threads(count);
    setBlasThreads(count);
  }
  return Napi::Number::New(info.Env(), at::get_num_threads());
}

Napi::Value Counters(Args info, State& state) {
  auto out = Napi::Object::New(info.Env());
  out.Set("tensors", static_cast<double>(state.tensors.live()));
  out.Set("bytes", static_cast<double>(state.bytes));
  return out;
}

Napi::Value Info(Args info, State&) {
  auto out = Napi::Object::New(info.Env());
  out.Set("version", TORCH_VERSION);
  out.Set("threads", at::get_num_threads());
  out.Set("cudaDevices", at::hasCUDA() ? static_cast<int>(at::detail::getCUDAHooks().getNumGPUs()) : 0);
  out.Set("parallel", at::get_parallel_info());
  out.Set("config", at::show_config());
  return out;
}

// Loads a library whose operators are registered as space::name, for all environments of the process.
Napi::Value LoadOperators(Args info, State& state) {
#if defined(_WIN32)
  throw KindError("libraries of operators are not loaded on Windows");
#else
  if (dlopen(info[0].ToString().Utf8Value().c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
    throw std::runtime_error(dlerror());
  admitSpace(state, info[1].ToString());
  return info.Env().Undefined();
#endif
}

// glibc maps every large block afresh and gives it back at free; a training step then spends its time in page faults.
void keepFreedMemory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  if (std::getenv("HSN_PLAIN_MALLOC") == nullptr) keepFreedMemory();
  // Errors go to JavaScript without their C++ trace, which takes a hundred times as long to write as the rest.
  c10::SetStackTraceFetcher([]() -> std::string { return ""; });
  auto* state = new State();
  env.AddCleanupHook([](State* owned) { delete owned; }, state);
  const auto raw = [&](const char* name, napi_callback body) {
    napi_value function;
    napi_create_function(env, name, NAPI_AUTO_LENGTH, body, state, &function);
    exports.Set(name, Napi::Value(env, function));
  };
  raw("call", Call);
  raw("free", Free);
#define EXPORT(name, body) exports.Set(name, Napi::Function::New<bound<body>>(env, name, state))
  EXPORT("loadOperators", LoadOperators);
  EXPORT("resolve", Resolve);
  EXPORT("fromData", FromData);
  EXPORT("readData", ReadData);
  EXPORT("readFile", ReadFile);
  EXPORT("item", Item);
  EXPORT("shape", Shape);
  EXPORT("dtype", TypeOf);
  EXPORT("device", DeviceOf);
  EXPORT("backward", Backward);
  EXPORT("grad", Grad);
  EXPORT("gradOf", GradOf);
  EXPORT("setGrad", SetGrad);
  EXPORT("requireGrad", RequireGrad);
  EXPORT("requiresGrad", RequiresGrad);
  EXPORT("gradMode", GradMode);
  EXPORT("autocast", Autocast);
  EXPORT("generator", NewGenerator);
  EXPORT("freeGenerator", FreeGenerator);
  EXPORT("generatorState", GeneratorState);
  EXPORT("restoreGenerator", RestoreGenerator);
  EXPORT("dropoutMask", DropoutMask);
  EXPORT("adamStep", AdamStep);
  EXPORT("completeMeta", CompleteMeta);
  EXPORT("threads", Threads);
  EXPORT("counters", Counters);
  EXPORT("info", Info);
#undef EXPORT
  exportProfile(env, exports);
  exportCollectives(env, exports, state);
  return exports;
}

}  // namespace
}  // namespace engine

static Napi::Object Initialise(Napi::Env env, Napi::Object exports) { return engine::Init(env, exports); }
NODE_API_MODULE(torch, Initialise)
