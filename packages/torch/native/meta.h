// libtorch's meta device, whole: operators that have no form for it there run on stand-ins in memory, for their shapes.
// Tests put models there, since a tensor that is made elsewhere by mistake meets an error.
#pragma once
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty_strided.h>
#include <torch/library.h>

#include <algorithm>

#include "arguments.h"

namespace engine {
namespace {

at::Tensor standIn(const at::Tensor& x) {
  if (!x.defined() || (x.device().is_cpu() && x.dim() == 0)) return x;
  TORCH_CHECK(x.is_meta(), "expects all tensors on the meta device, got one of ", x.sizes(), " on ", x.device());
  return at::empty_strided(x.sizes(), x.strides(), x.options().device(at::kCPU)).zero_();
}

at::Tensor onMeta(const at::Tensor& x) {
  if (!x.defined()) return x;
  return at::empty_strided(x.sizes(), x.strides(), x.options().device(at::kMeta));
}

c10::IValue standInFor(const c10::IValue& given) {
  if (given.isTensor()) return standIn(given.toTensor());
  if (given.isDevice()) return c10::Device(at::kCPU);
  if (given.isTensorList()) {
    std::vector<at::Tensor> all = given.toTensorVector();
    for (auto& x : all) x = standIn(x);
    return all;
  }
  if (given.isOptionalTensorList()) {
    c10::List<c10::optional<at::Tensor>> all;
    for (const c10::optional<at::Tensor> x : given.toOptionalTensorList())
      all.push_back(x ? c10::optional<at::Tensor>(standIn(*x)) : c10::nullopt);
    return all;
  }
  return given;
}

// What an operator writes to is what it returns.
c10::IValue resultOf(const c10::FunctionSchema& schema, size_t at, const c10::IValue& made,
                     const std::vector<c10::IValue>& given) {
  const auto* alias = schema.returns()[at].alias_info();
  for (size_t i = 0; alias != nullptr && alias->isWrite() && i < given.size(); ++i) {
    const auto* own = schema.arguments()[i].alias_info();
    if (own == nullptr || !(*own == *alias)) continue;
    // An operator gives what it writes to the size of its result.
    if (made.isTensor() && given[i].toTensor().sizes() != made.toTensor().sizes())
      given[i].toTensor().resize_(made.toTensor().sizes());
    return given[i];
  }
  if (made.isTensor()) return onMeta(made.toTensor());
  if (!made.isTensorList()) return made;
  std::vector<at::Tensor> all = made.toTensorVector();
  for (auto& x : all) x = onMeta(x);
  return all;
}

void byStandIns(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  const std::vector<c10::IValue> given(stack->end() - static_cast<int64_t>(schema.arguments().size()), stack->end());
  torch::jit::Stack own;
  for (const auto& argument : given) own.push_back(standInFor(argument));
  op.callBoxed(&own);
  stack->resize(stack->size() - given.size());
  for (size_t i = 0; i < own.size(); ++i) stack->push_back(resultOf(schema, i, own[i], given));
}

bool hasKernel(const c10::OperatorHandle& op, std::initializer_list<c10::DispatchKey> keys) {
  return std::any_of(keys.begin(), keys.end(), [&](c10::DispatchKey key) { return op.hasKernelForDispatchKey(key); });
}

// Every operator that has a form for the CPU and none for the meta device.
void registerStandIns(torch::Library& library) {
  using Key = c10::DispatchKey;
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op || name.name.rfind("aten::", 0) != 0 || !hasKernel(*op, {Key::CPU})) continue;
    if (hasKernel(*op, {Key::Meta, Key::CompositeImplicitAutograd, Key::CompositeExplicitAutograd,
                        Key::CompositeExplicitAutogradNonFunctional}))
      continue;
    const auto full = name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
    library.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&byStandIns>());
  }
}

Napi::Value CompleteMeta(Args info, State& state) {
  state.oneDevice = true;
  static torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__, __LINE__);
  static const bool registered = (registerStandIns(library), true);
  return Napi::Boolean::New(info.Env(), registered);
}

}  // namespace
}  // namespace engine
