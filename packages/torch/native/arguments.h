// How the addon's functions read their arguments and give their results.
#pragma once
#include "state.h"

namespace engine {

using Args = const Napi::CallbackInfo&;

inline State& stateFrom(Args info) { return *static_cast<State*>(info.Data()); }

template <Napi::Value (*Body)(Args, State&)>
Napi::Value bound(const Napi::CallbackInfo& info) {
  const auto value = guarded(info.Env(), [&]() -> napi_value { return Body(info, stateFrom(info)); });
  return Napi::Value(info.Env(), value);
}

inline double number(Args info, size_t i) { return numberOf(info.Env(), info[i], "argument"); }
// The largest number up to which JavaScript counts one by one.
constexpr int64_t kMostWhole = int64_t{1} << 53;

inline int64_t whole(Args info, size_t i, int64_t least, int64_t most) {
  const double given = number(info, i);
  if (given == std::floor(given) && given >= static_cast<double>(least) && given <= static_cast<double>(most))
    return static_cast<int64_t>(given);
  throw KindError("expected a whole number from " + std::to_string(least) + " to " + std::to_string(most) + ", got " +
                  std::to_string(given));
}
inline at::Tensor& tensor(Args info, State& state, size_t i) { return state.tensor(number(info, i)); }
inline Napi::Value handle(Args info, State& state, at::Tensor value) {
  return Napi::Number::New(info.Env(), static_cast<double>(state.put(info.Env(), std::move(value))));
}
inline bool flag(Args info, size_t i) {
  if (!info[i].IsBoolean()) throw KindError("expected a boolean");
  return info[i].As<Napi::Boolean>();
}

inline std::vector<int64_t> shapeOf(const Napi::Value& value) {
  if (!value.IsArray()) throw KindError("a shape is an array of whole numbers");
  const auto array = value.As<Napi::Array>();
  std::vector<int64_t> out;
  for (uint32_t i = 0; i < array.Length(); ++i) {
    const double size = numberOf(value.Env(), array.Get(i), "shape");
    if (size < 0 || size != std::floor(size) || size > 9007199254740992.0) {
      throw KindError("a shape holds whole numbers from 0, got " + std::to_string(size));
    }
    out.push_back(static_cast<int64_t>(size));
  }
  return out;
}

inline std::vector<at::Tensor> tensorsOf(const Napi::Value& value, State& state) {
  if (!value.IsArray()) throw KindError("expected an array of tensors");
  const auto array = value.As<Napi::Array>();
  std::vector<at::Tensor> out;
  out.reserve(array.Length());
  for (uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::Value element = array.Get(i);
    out.push_back(element.IsNull() || element.IsUndefined() ? at::Tensor()
                                                            : state.tensor(numberOf(value.Env(), element, "tensor")));
  }
  return out;
}

}  // namespace engine
