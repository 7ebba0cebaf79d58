// A layer of BERT over texts of any lengths that lie one after the other, without padding: attention within each text,
// then the feed-forward layers, each with a residual sum and a norm. Texts go through the whole layer some at a time,
// on one thread, so that what lies between is still in its cache. Weights are packed (packed.h); no gradient.
#pragma once
#include <vector>

#include "attention-kernel.h"
#include "packed.h"

namespace engine {
namespace {

// Where each text begins, and where the last ends: [S + 1] whole numbers from 0 to `rows`.
const int64_t* textEnds(const at::Tensor& ends, int64_t rows) {
  checkElements({"ends", ends}, at::kLong, "int64");
  checkRank({"ends", ends}, 1);
  TORCH_CHECK(ends.is_contiguous() && ends.numel() > 0, "expects 'ends' with 0 first, got ", ends.sizes());
  const int64_t* at = ends.data_ptr<int64_t>();
  const int64_t count = ends.numel();
  TORCH_CHECK(at[0] == 0 && at[count - 1] == rows, "expects 'ends' from 0 to ", rows, ", got ", at[0], " to ",
              at[count - 1]);
  for (int64_t i = 1; i < count; ++i)
    TORCH_CHECK(at[i] >= at[i - 1], "expects 'ends' that rise, got ", at[i], " after ", at[i - 1]);
  return at;
}

struct Norm {
  const float *scale, *shift;
  float epsilon;
};

struct EncoderLayer {
  Packed attention, output, up, down;
  Norm first, second;
  int64_t width, hidden, heads;
  Activation activation;
  // What is added to scores by how far a key lies from its query; null for none.
  const float* relative;
  int64_t reach;  // positions
};

// Buffers of the texts that one thread reads at a time.
struct LayerRoom {
  std::unique_ptr<float[]> packed, attended, middle, hidden;
  UnitRows units;
  LayerRoom(int64_t rows, int64_t width, int64_t most)
      : packed(new float[rows * 3 * width]),
        attended(new float[rows * width]),
        middle(new float[rows * width]),
        hidden(new float[kRowBlock * most]),
        units(rows, std::max(width, most)) {}
};

// A thread's buffers stay for its next layer: memory that is new each time costs more than the norms do.
LayerRoom& layerRoom(const EncoderLayer& layer, int64_t rows) {
  thread_local std::unique_ptr<LayerRoom> kept;
  thread_local int64_t sizes[3] = {0, 0, 0};
  if (!kept || rows > sizes[0] || layer.width > sizes[1] || layer.hidden > sizes[2]) {
    kept.reset();
    sizes[0] = std::max(rows, sizes[0]);
    sizes[1] = std::max(layer.width, sizes[1]);
    sizes[2] = std::max(layer.hidden, sizes[2]);
    kept.reset(new LayerRoom(sizes[0], sizes[1], sizes[2]));
  }
  return *kept;
}

void attendText(const EncoderLayer& layer, const float* packed, int64_t rows, Room& room, float* out) {
  const int64_t width = layer.width, each = width / layer.heads, row = 3 * width;
  const Shape s{1, layer.heads, layer.heads, rows, rows, each, upTo(rows, kLanes) * kLanes};
  const Strides strides{0, each, row};
  const Heads x{packed, packed + width, packed + 2 * width, strides, strides, strides};
  Mask mask;
  // The column of a key that lies d after its query is reach − 1 + d.
  if (layer.relative) mask = {layer.relative + layer.reach - 1, 0, 2 * layer.reach - 1, -1, 1};
  for (int64_t h = 0; h < layer.heads; ++h) forwardHead(s, x, mask, Drop(), 0, h, room, nullptr, out + h * each, width);
}

// norm(x·Wᵀ + b + base), rows of x as they come; the product has the bias in it already.
void addAndNorm(float* rows, const float* base, const float* none, const Norm& norm, int64_t count, int64_t width) {
  for (int64_t r = 0; r < count; ++r)
    biasAddNorm(rows + r * width, none, base + r * width, norm.scale, norm.shift, width, norm.epsilon);
}

// Texts from `first` to `last`, whose rows begin at `x`, through the layer.
void encodeTexts(const EncoderLayer& layer, const float* x, const int64_t* first, const int64_t* last, LayerRoom& room,
                 const float* none, float* out) {
  const int64_t rows = *last - *first, width = layer.width;
  multiplyPacked(layer.attention, x, rows, room.units, room.packed.get(), Activation::none);
  int64_t longest = 0;
  for (const int64_t* at = first; at < last; ++at) longest = std::max(longest, at[1] - at[0]);
  Room heads({1, layer.heads, layer.heads, longest, longest, width / layer.heads, upTo(longest, kLanes) * kLanes});
  for (const int64_t* at = first; at < last; ++at)
    if (at[1] > at[0])
      attendText(layer, room.packed.get() + (at[0] - *first) * 3 * width, at[1] - at[0], heads,
                 room.attended.get() + (at[0] - *first) * width);
  float* middle = room.middle.get();
  multiplyPacked(layer.output, room.attended.get(), rows, room.units, middle, Activation::none);
  addAndNorm(middle, x, none, layer.first, rows, width);
  const int64_t block = std::max<int64_t>(kTileRows, blockOf(rows));
  for (int64_t at = 0; at < rows; at += block) {
    const int64_t count = std::min(block, rows - at);
    multiplyPacked(layer.up, middle + at * width, count, room.units, room.hidden.get(), layer.activation);
    multiplyPacked(layer.down, room.hidden.get(), count, room.units, out + at * width, Activation::none);
    addAndNorm(out + at * width, middle + at * width, none, layer.second, count, width);
  }
}

// Runs of texts, as many for each thread and of about as many rows: a block of products each, at most, where texts are
// no longer. Ends of texts, by number.
std::vector<int64_t> textGroups(const int64_t* ends, int64_t texts) {
  const int64_t rows = ends[texts], threads = std::max<int64_t>(1, at::get_num_threads());
  const int64_t count = upTo(upTo(rows, kRowBlock), threads) * threads;
  std::vector<int64_t> groups{0};
  for (int64_t t = 1; t <= texts; ++t) {
    // The text belongs to the group that most of its rows fall into.
    const int64_t next = t < texts ? (ends[t] + ends[t + 1]) / 2 : rows;
    if (t == texts || next * count >= static_cast<int64_t>(groups.size()) * rows) groups.push_back(t);
  }
  return groups;
}

Norm normOf(const char* name, const at::Tensor& scale, const at::Tensor& shift, int64_t width, double epsilon) {
  checkFloats({{name, scale}, {name, shift}});
  checkShape({name, scale}, {width});
  checkShape({name, shift}, {width});
  TORCH_CHECK(scale.is_contiguous() && shift.is_contiguous(), "expects '", name, "' in one piece");
  return {scale.data_ptr<float>(), shift.data_ptr<float>(), static_cast<float>(epsilon)};
}

constexpr size_t kLayerWeights = 12;

// `weights`: data and table of the packed query-key-value, attention output, up and down projections, then scale and
// shift of the norm after attention and of that after the feed-forward layers.
EncoderLayer layerOf(const at::Tensor& x, at::TensorList weights, int64_t heads, int64_t hidden, int64_t activation,
                     double epsilon) {
  checkFloats({{"x", x}});
  checkRank({"x", x}, 2);
  TORCH_CHECK(weights.size() == kLayerWeights, "expects ", kLayerWeights, " 'weights', got ", weights.size());
  const int64_t width = x.size(1);
  TORCH_CHECK(heads > 0 && width > 0 && width % heads == 0 && width / heads % kLanes == 0,
              "expects 'x' of heads whose width ", kLanes, " divides, got ", width, " in ", heads, " heads");
  TORCH_CHECK(hidden > 0 && hidden <= kMostInputs, "expects 'hidden' from 1 to ", kMostInputs, ", got ", hidden);
  const auto packed = [&](size_t at, const char* name, int64_t inputs, int64_t outputs) {
    return packedOf(name, weights[at], weights[at + 1], inputs, outputs);
  };
  return {packed(0, "attention", width, 3 * width),
          packed(2, "output", width, width),
          packed(4, "up", width, hidden),
          packed(6, "down", hidden, width),
          normOf("first norm", weights[8], weights[9], width, epsilon),
          normOf("second norm", weights[10], weights[11], width, epsilon),
          width,
          hidden,
          heads,
          activationOf(activation),
          nullptr,
          0};
}

// x [N, D] of texts by `ends` [S + 1] → [N, D]. `relative` [H, 2·M − 1]: added to the score of a key d after its query,
// at M − 1 + d, for texts of at most M rows.
at::Tensor encoderLayer(const at::Tensor& given, const at::Tensor& ends, at::TensorList weights, int64_t heads,
                        int64_t hidden, int64_t activation, double epsilon, const c10::optional<at::Tensor>& relative) {
  EncoderLayer layer = layerOf(given, weights, heads, hidden, activation, epsilon);
  TORCH_CHECK(!recorded({given}), "expects 'x' without a gradient: packed weights have none");
  const int64_t* at = textEnds(ends, given.size(0));
  const int64_t texts = ends.numel() - 1;
  if (relative) {
    checkFloats({{"relative", *relative}});
    checkRank({"relative", *relative}, 2);
    const int64_t columns = relative->size(1);
    TORCH_CHECK(relative->is_contiguous() && relative->size(0) == heads && columns % 2 == 1, "expects 'relative' of ",
                heads, " rows of an odd number, got ", relative->sizes());
    layer.relative = relative->data_ptr<float>();
    layer.reach = (columns + 1) / 2;
    for (int64_t t = 0; t < texts; ++t)
      TORCH_CHECK(at[t + 1] - at[t] <= layer.reach, "expects texts of at most ", layer.reach, " rows, got ",
                  at[t + 1] - at[t]);
  }
  const auto x = readable(given);
  auto out = at::empty_like(x);
  if (x.numel() == 0) return out;
  const auto groups = textGroups(at, texts);
  const std::vector<float> none(layer.width, 0.0f);
  const float* from = x.data_ptr<float>();
  float* to = out.data_ptr<float>();
  at::parallel_for(0, static_cast<int64_t>(groups.size()) - 1, 1, [&](int64_t begin, int64_t end) {
    int64_t most = 0;
    for (int64_t g = begin; g < end; ++g) most = std::max(most, at[groups[g + 1]] - at[groups[g]]);
    LayerRoom& room = layerRoom(layer, most);
    for (int64_t g = begin; g < end; ++g) {
      const int64_t row = at[groups[g]] * layer.width;
      encodeTexts(layer, from + row, at + groups[g], at + groups[g + 1], room, none.data(), to + row);
    }
  });
  return out;
}

// The mean of each text's rows, of unit length. [N, D] → [S, D]; zero for a text without rows.
at::Tensor unitTextMeans(const at::Tensor& given, const at::Tensor& ends) {
  checkFloats({{"x", given}});
  checkRank({"x", given}, 2);
  TORCH_CHECK(!recorded({given}), "expects 'x' without a gradient");
  const int64_t* at = textEnds(ends, given.size(0));
  const int64_t texts = ends.numel() - 1, width = given.size(1);
  const auto x = readable(given);
  auto out = at::zeros({texts, width}, x.options());
  const float* from = x.data_ptr<float>();
  float* to = out.data_ptr<float>();
  for (int64_t t = 0; t < texts; ++t) {
    float* mean = to + t * width;
    for (int64_t r = at[t]; r < at[t + 1]; ++r)
      for (int64_t i = 0; i < width; ++i) mean[i] += from[r * width + i];
    double square = 0;
    for (int64_t i = 0; i < width; ++i) square += static_cast<double>(mean[i]) * mean[i];
    const float scale = square > 0 ? static_cast<float>(1 / std::sqrt(square)) : 0;
    for (int64_t i = 0; i < width; ++i) mean[i] *= scale;
  }
  return out;
}

}  // namespace
}  // namespace engine
