// The generic boxed call: JavaScript values become IValues by the operator's own schema.
#include <ATen/core/dispatch/Dispatcher.h>

#include <cmath>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>

#include "state.h"

namespace engine {

// How one argument of an operator's schema is read from JavaScript.
enum class Kind {
  Tensor,
  TensorList,
  OptionalTensorList,
  Scalar,
  Int,
  IntList,
  Float,
  FloatList,
  Bool,
  BoolList,
  String,
  Device,
  Generator
};

struct Argument {
  std::string name;
  std::string type;
  Kind kind;
  bool optional;
};

struct Operator {
  c10::OperatorHandle handle;
  std::string name;
  std::vector<Argument> arguments;
};

struct Operators {
  // A deque: reading an argument can run JavaScript that resolves another operator while one is in use.
  std::deque<Operator> all;
  std::unordered_map<std::string, uint32_t> index;
  // Those of libraries that check what they are given, as those of this addon do.
  std::set<std::string> spaces{"engine"};
};

namespace {

const std::unordered_map<std::string, Kind>& kinds() {
  static const std::unordered_map<std::string, Kind> table = {
      {"Tensor", Kind::Tensor},       {"Tensor[]", Kind::TensorList}, {"Tensor?[]", Kind::OptionalTensorList},
      {"Scalar", Kind::Scalar},       {"number", Kind::Scalar},       {"int", Kind::Int},
      {"SymInt", Kind::Int},          {"int[]", Kind::IntList},       {"SymInt[]", Kind::IntList},
      {"float", Kind::Float},         {"float[]", Kind::FloatList},   {"bool", Kind::Bool},
      {"bool[]", Kind::BoolList},     {"str", Kind::String},          {"Device", Kind::Device},
      {"Generator", Kind::Generator}, {"ScalarType", Kind::Int},      {"Layout", Kind::Int},
      {"MemoryFormat", Kind::Int},
  };
  return table;
}

const char* typeName(napi_env env, napi_value value) {
  bool array = false;
  napi_is_array(env, value, &array);
  if (array) return "an array";
  napi_valuetype type;
  napi_typeof(env, value, &type);
  switch (type) {
    case napi_undefined: return "undefined";
    case napi_null: return "null";
    case napi_boolean: return "a boolean";
    case napi_number: return "a number";
    case napi_string: return "a string";
    case napi_function: return "a function";
    case napi_bigint: return "a bigint";
    default: return "an object";
  }
}

struct Reader {
  napi_env env;
  State& state;
  const Operator& op;
  const Argument& argument;

  [[noreturn]] void fail(napi_value value) const {
    throw KindError(op.name + ": argument '" + argument.name + "' expects " + argument.type + ", got " +
                    typeName(env, value));
  }
  double number(napi_value value) const {
    double out;
    if (napi_get_value_double(env, value, &out) != napi_ok) fail(value);
    return out;
  }
  int64_t integer(napi_value value) const {
    const double out = number(value);
    if (out != std::floor(out) || std::abs(out) > 9007199254740992.0) {
      throw KindError(op.name + ": argument '" + argument.name + "' expects " + argument.type + ", got " +
                      std::to_string(out));
    }
    return static_cast<int64_t>(out);
  }
  bool boolean(napi_value value) const {
    bool out;
    if (napi_get_value_bool(env, value, &out) != napi_ok) fail(value);
    return out;
  }
  std::string string(napi_value value) const {
    size_t length;
    if (napi_get_value_string_utf8(env, value, nullptr, 0, &length) != napi_ok) fail(value);
    std::string out(length, '\0');
    napi_get_value_string_utf8(env, value, &out[0], length + 1, &length);
    return out;
  }
  bool missing(napi_value value) const {
    napi_valuetype type;
    napi_typeof(env, value, &type);
    return type == napi_undefined || type == napi_null;
  }
  template <typename T, typename F>
  std::vector<T> list(napi_value value, F&& each) const {
    bool array = false;
    napi_is_array(env, value, &array);
    if (!array) fail(value);
    uint32_t length = 0;
    napi_get_array_length(env, value, &length);
    std::vector<T> out;
    out.reserve(length);
    for (uint32_t i = 0; i < length; ++i) {
      napi_value element;
      // A getter or proxy can throw, and then there is no element to look at.
      if (napi_get_element(env, value, i, &element) != napi_ok) throw KindError("an array that cannot be read");
      out.push_back(each(element));
    }
    return out;
  }
  c10::IValue scalar(napi_value value) const {
    napi_valuetype type;
    napi_typeof(env, value, &type);
    if (type == napi_boolean) return boolean(value);
    const double out = number(value);
    const bool whole = out == std::floor(out) && std::abs(out) <= 9007199254740992.0;
    return whole ? c10::IValue(static_cast<int64_t>(out)) : c10::IValue(out);
  }
  c10::IValue optionalTensors(napi_value value) const {
    c10::List<c10::optional<at::Tensor>> out;
    for (auto& element : list<c10::optional<at::Tensor>>(value, [&](napi_value v) {
           return missing(v) ? c10::optional<at::Tensor>() : c10::optional<at::Tensor>(state.tensor(number(v)));
         })) {
      out.push_back(element);
    }
    return out;
  }
  c10::IValue read(napi_value value) const {
    switch (argument.kind) {
      case Kind::Tensor: return state.tensor(number(value));
      case Kind::TensorList: return list<at::Tensor>(value, [&](napi_value v) { return state.tensor(number(v)); });
      case Kind::OptionalTensorList: return optionalTensors(value);
      case Kind::Scalar: return scalar(value);
      case Kind::Int: return integer(value);
      case Kind::IntList: return list<int64_t>(value, [&](napi_value v) { return integer(v); });
      case Kind::Float: return number(value);
      case Kind::FloatList: return list<double>(value, [&](napi_value v) { return number(v); });
      case Kind::Bool: return boolean(value);
      case Kind::BoolList: {
        c10::List<bool> out;
        for (bool element : list<bool>(value, [&](napi_value v) { return boolean(v); })) out.push_back(element);
        return out;
      }
      case Kind::String: return string(value);
      case Kind::Device: return c10::Device(string(value));
      case Kind::Generator: return state.generators.get(number(value), "generator");
    }
    fail(value);
  }
};

napi_value toJs(napi_env env, State& state, const c10::IValue& value) {
  napi_value out;
  if (value.isTensor()) {
    if (!value.toTensor().defined()) {
      napi_get_null(env, &out);
    } else {
      napi_create_double(env, static_cast<double>(state.put(env, value.toTensor())), &out);
    }
  } else if (value.isTensorList()) {
    const auto tensors = value.toTensorVector();
    napi_create_array_with_length(env, tensors.size(), &out);
    for (uint32_t i = 0; i < tensors.size(); ++i) napi_set_element(env, out, i, toJs(env, state, tensors[i]));
  } else if (value.isBool()) {
    napi_get_boolean(env, value.toBool(), &out);
  } else if (value.isInt()) {
    napi_create_double(env, static_cast<double>(value.toInt()), &out);
  } else if (value.isDouble()) {
    napi_create_double(env, value.toDouble(), &out);
  } else {
    throw KindError("an operator returned " + value.tagKind() + ", which has no JavaScript form here");
  }
  return out;
}

bool startsWith(const std::string& text, const std::string& start) { return text.compare(0, start.size(), start) == 0; }

// Operators that libtorch calls itself, with sizes and strides that it has checked: a wrong one reads past memory.
bool internal(const Operators& known, const std::string& name) {
  if (known.spaces.count(name.substr(0, name.find("::"))) > 0) return false;
  return !startsWith(name, "aten::") || startsWith(name, "aten::_") || name.find("_backward") != std::string::npos;
}

Operators& operatorsOf(State& state) {
  if (!state.operators) state.operators = std::make_shared<Operators>();
  return *state.operators;
}

}  // namespace

void admitSpace(State& state, const std::string& name) { operatorsOf(state).spaces.insert(name); }

uint32_t resolve(State& state, const std::string& name, const std::string& overload) {
  auto& operators = operatorsOf(state);
  const auto key = name + "." + overload;
  const auto known = operators.index.find(key);
  if (known != operators.index.end()) return known->second;
  // libtorch's own operators need no namespace; the fused ones of this addon are engine::name.
  const auto full = name.find("::") == std::string::npos ? "aten::" + name : name;
  if (internal(operators, full))
    throw KindError(full + " is internal to libtorch, where arguments go unchecked: call a public operator");
  const auto handle = c10::Dispatcher::singleton().findSchema({full, overload});
  if (!handle) throw KindError("libtorch has no operator aten::" + key);
  Operator op{*handle, overload.empty() ? name : key, {}};
  for (const auto& argument : handle->schema().arguments()) {
    auto type = argument.type()->str();
    const bool optional = type.size() > 1 && type.back() == '?';
    if (optional) type.pop_back();
    const auto kind = kinds().find(type);
    if (kind == kinds().end()) throw KindError("aten::" + key + ": no conversion for an argument of type " + type);
    op.arguments.push_back({argument.name(), argument.type()->str(), kind->second, optional});
  }
  operators.all.push_back(std::move(op));
  const auto index = static_cast<uint32_t>(operators.all.size() - 1);
  operators.index.emplace(key, index);
  return index;
}

namespace {

// Tensors of one number may come from the CPU to all devices, and copy_ is what moves numbers between them.
void checkOneDevice(const Operator& op, const torch::jit::Stack& stack) {
  if (op.name == "copy_") return;
  std::optional<c10::Device> device;
  const auto check = [&](const at::Tensor& x) {
    if (!x.defined() || (x.dim() == 0 && x.device().is_cpu())) return;
    TORCH_CHECK(!device || *device == x.device(), "expects all tensors on one device, got ", *device, " and ",
                x.device());
    device = x.device();
  };
  for (const auto& value : stack) {
    if (value.isTensor()) check(value.toTensor());
    if (value.isTensorList())
      for (const at::Tensor& x : value.toTensorVector()) check(x);
  }
}

}  // namespace

napi_value callOperator(napi_env env, State& state, size_t argc, const napi_value* argv) {
  const double given = numberOf(env, argv[0], "operator");
  const auto& known = operatorsOf(state).all;
  if (!(given >= 0 && given < static_cast<double>(known.size()))) throw KindError("unknown operator number");
  const Operator& op = known[static_cast<size_t>(given)];
  const auto& schema = op.handle.schema().arguments();
  if (argc - 1 > schema.size()) {
    throw KindError(op.name + ": takes at most " + std::to_string(schema.size()) + " arguments, got " +
                    std::to_string(argc - 1));
  }
  torch::jit::Stack stack;
  stack.reserve(schema.size());
  for (size_t i = 0; i < schema.size(); ++i) {
    const Reader reader{env, state, op, op.arguments[i]};
    if (i + 1 < argc && !reader.missing(argv[i + 1])) {
      stack.push_back(reader.read(argv[i + 1]));
    } else if (schema[i].default_value()) {
      stack.push_back(*schema[i].default_value());
    } else if (op.arguments[i].optional) {
      stack.emplace_back();
    } else {
      throw KindError(op.name + ": argument '" + op.arguments[i].name + "' (" + op.arguments[i].type + ") is missing");
    }
  }
  if (state.oneDevice) checkOneDevice(op, stack);
  op.handle.callBoxed(&stack);
  if (stack.size() == 1) return toJs(env, state, stack[0]);
  napi_value out;
  napi_create_array_with_length(env, stack.size(), &out);
  for (uint32_t i = 0; i < stack.size(); ++i) napi_set_element(env, out, i, toJs(env, state, stack[i]));
  return out;
}

}  // namespace engine
