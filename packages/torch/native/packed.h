// Products x·Wᵀ + b with a weight that is packed once, for layers whose weights stay as they are. A row and a weight
// are read in units of 32 bits: one float32, two bfloat16, or four int8. A packed weight is [panels, units, 64, in a
// unit]: what one pass over a row needs lies side by side. No gradient.
#pragma once
#include <ATen/ops/zeros.h>

#include <memory>

#include "linear.h"
#include "packed-rows.h"
#include "packed-tiles.h"

namespace engine {
namespace {

constexpr int64_t kMostInputs = 65536;  // beyond, a sum of products of bytes may be more than 32 bits

int64_t upTo(int64_t count, int64_t of) { return (count + of - 1) / of; }

// Numbers in a unit of 32 bits.
int64_t inUnit(at::ScalarType type) { return type == at::kFloat ? 1 : type == at::kBFloat16 ? 2 : 4; }

// A weight's row for one output, quantised: w ≈ q·scale with q from −127 to 127. Returns the scale.
float byteScale(const float* w, int64_t inputs) {
  float most = 0;
  for (int64_t i = 0; i < inputs; ++i) most = std::max(most, std::abs(w[i]));
  return most > 0 ? most / 127 : 1;
}

void packFloats(const at::Tensor& weight, at::Tensor& data) {
  const int64_t outputs = weight.size(0), inputs = weight.size(1), units = data.size(1);
  const float* w = weight.data_ptr<float>();
  float* to = data.data_ptr<float>();
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t i = 0; i < inputs; ++i) to[(o / kPanel * units + i) * kPanel + o % kPanel] = w[o * inputs + i];
}

void packHalves(const at::Tensor& weight, at::Tensor& data) {
  const int64_t outputs = weight.size(0), inputs = weight.size(1), units = data.size(1);
  const float* w = weight.data_ptr<float>();
  auto* to = reinterpret_cast<uint16_t*>(data.data_ptr<at::BFloat16>());
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t i = 0; i < inputs; ++i)
      to[((o / kPanel * units + i / 2) * kPanel + o % kPanel) * 2 + i % 2] = halved(w[o * inputs + i]);
}

void packBytes(const at::Tensor& weight, at::Tensor& data, float* scales, float* sums) {
  const int64_t outputs = weight.size(0), inputs = weight.size(1), units = data.size(1);
  const float* w = weight.data_ptr<float>();
  int8_t* to = data.data_ptr<int8_t>();
  for (int64_t o = 0; o < outputs; ++o) {
    const float scale = byteScale(w + o * inputs, inputs);
    int64_t sum = 0;
    for (int64_t i = 0; i < inputs; ++i) {
      const auto q = static_cast<int8_t>(std::lrint(w[o * inputs + i] / scale));
      to[((o / kPanel * units + i / 4) * kPanel + o % kPanel) * 4 + i % 4] = q;
      sum += q;
    }
    scales[o] = scale;
    sums[o] = scale * static_cast<float>(sum);
  }
}

// The weight in panels, and for each of its columns bias, scale and sum. precision: 0 float32, 1 bfloat16, 2 int8.
std::vector<at::Tensor> packLinear(const at::Tensor& given, const c10::optional<at::Tensor>& bias, int64_t precision) {
  checkFloats({{"weight", given}});
  checkRank({"weight", given}, 2);
  if (bias) checkFloats({{"bias", *bias}});
  if (bias) checkShape({"bias", *bias}, {given.size(0)});
  TORCH_CHECK(precision >= 0 && precision <= 2, "expects a 'precision' of 0, 1 or 2, got ", precision);
  TORCH_CHECK(given.size(1) <= kMostInputs, "expects at most ", kMostInputs, " inputs, got ", given.size(1));
  at::NoGradGuard guard;
  const auto weight = readable(given);
  if (precision == 2) {
    const float* w = weight.data_ptr<float>();
    for (int64_t i = 0; i < weight.numel(); ++i)
      TORCH_CHECK(std::isfinite(w[i]), "expects a 'weight' of finite numbers for int8, got ", w[i]);
  }
  const auto type = precision == 0 ? at::kFloat : precision == 1 ? at::kBFloat16 : at::kChar;
  const int64_t panels = upTo(weight.size(0), kPanel), unit = inUnit(type);
  auto data = at::zeros({panels, upTo(weight.size(1), unit), kPanel, unit}, weight.options().dtype(type));
  auto table = at::zeros({3, panels * kPanel}, weight.options());
  float* rows = table.data_ptr<float>();
  if (bias) table[0].narrow(0, 0, weight.size(0)).copy_(*bias);
  table[1].fill_(1);
  if (precision == 0) packFloats(weight, data);
  if (precision == 1) packHalves(weight, data);
  if (precision == 2) packBytes(weight, data, rows + panels * kPanel, rows + 2 * panels * kPanel);
  return {data, table};
}

// A packed layer, checked against the numbers it is to take and to give.
struct Packed {
  at::ScalarType type;
  const int32_t* data;
  const float* table;
  int64_t inputs, outputs, units, columns;
};

Packed packedOf(const char* name, const at::Tensor& data, const at::Tensor& table, int64_t inputs, int64_t outputs) {
  TORCH_CHECK(inMemory(data) && data.is_contiguous() && inMemory(table) && table.is_contiguous(), "expects '", name,
              "' as pack_linear gives it");
  const auto type = data.scalar_type();
  TORCH_CHECK(type == at::kFloat || type == at::kBFloat16 || type == at::kChar, "expects '", name,
              "' of float32, bfloat16 or int8, got ", elementName(data));
  checkElements({name, table}, at::kFloat, "float32");
  const int64_t panels = upTo(outputs, kPanel), unit = inUnit(type), units = upTo(inputs, unit);
  checkShape({name, data}, {panels, units, kPanel, unit});
  checkShape({name, table}, {3, panels * kPanel});
  TORCH_CHECK(inputs <= kMostInputs, "expects at most ", kMostInputs, " inputs, got ", inputs);
  const auto* units32 = static_cast<const int32_t*>(data.data_ptr());
  return {type, units32, table.data_ptr<float>(), inputs, outputs, units, panels * kPanel};
}

// Room for rows in the units that a product reads, with scale and lowest value of each where they are bytes.
struct UnitRows {
  std::unique_ptr<int32_t[]> units;
  std::unique_ptr<float[]> scale, low;
  UnitRows(int64_t rows, int64_t most)
      : units(new int32_t[std::max<int64_t>(1, rows * most)]), scale(new float[rows + 1]), low(new float[rows + 1]) {}
};

// out [rows, outputs] = activation(x·Wᵀ + b) for rows of x that lie one after the other.
void multiplyPacked(const Packed& w, const float* x, int64_t rows, UnitRows& room, float* out, Activation activation) {
  Product p{nullptr, w.units, w.data, w.table, w.columns, nullptr, nullptr, out, w.outputs, activation};
  if (w.type == at::kFloat) {
    p.rows = reinterpret_cast<const int32_t*>(x);
    return productOfFloats(p, rows);
  }
  p.rows = room.units.get();
  if (w.type == at::kBFloat16) {
    halveRows(x, rows, w.inputs, reinterpret_cast<uint16_t*>(room.units.get()), 2 * w.units);
    return hasHalfProducts() ? productOfHalves(p, rows) : productOfHalvesAnywhere(p, rows);
  }
  p.scale = room.scale.get();
  p.low = room.low.get();
  quantiseRows(x, rows, w.inputs, {reinterpret_cast<uint8_t*>(room.units.get()), room.scale.get(), room.low.get()},
               4 * w.units);
  return hasByteProducts() ? productOfBytes(p, rows) : productOfBytesAnywhere(p, rows);
}

Activation activationOf(int64_t number) {
  TORCH_CHECK(number >= 0 && number <= 3, "expects an 'activation' from 0 to 3, got ", number);
  return static_cast<Activation>(number);
}

// activation(x·Wᵀ + b) of any rows: 0 none, 1 GELU, 2 GELU by tanh, 3 ReLU.
at::Tensor packedLinear(const at::Tensor& given, const at::Tensor& data, const at::Tensor& table, int64_t outputs,
                        int64_t activation) {
  checkFloats({{"x", given}});
  TORCH_CHECK(given.dim() > 0, "expects 'x' of rows, got a single number");
  TORCH_CHECK(outputs >= 0, "expects 'outputs' from 0, got ", outputs);
  TORCH_CHECK(!recorded({given}), "expects 'x' without a gradient: packed weights have none");
  const Packed w = packedOf("packed", data, table, given.size(-1), outputs);
  const Activation then = activationOf(activation);
  auto shape = given.sizes().vec();
  shape.back() = outputs;
  const auto x = readable(given);
  auto out = at::empty(shape, x.options());
  if (out.numel() == 0) return out;
  const int64_t rows = out.numel() / outputs;
  const float* from = x.data_ptr<float>();
  float* to = out.data_ptr<float>();
  at::parallel_for(0, upTo(rows, kRowBlock), 1, [&](int64_t begin, int64_t end) {
    UnitRows room(kRowBlock, w.units);
    for (int64_t first = begin * kRowBlock; first < std::min(rows, end * kRowBlock); first += kRowBlock) {
      const int64_t count = std::min(kRowBlock, rows - first);
      multiplyPacked(w, from + first * w.inputs, count, room, to + first * outputs, then);
    }
  });
  return out;
}

}  // namespace
}  // namespace engine
