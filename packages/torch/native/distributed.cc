// The Node-API surface of a group of processes: sums, means with gradients, and gradients averaged while backward runs.
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <functional>
#include <optional>

#include "arguments.h"
#include "group.h"

namespace engine {

// Gradients summed over the processes in buckets: a bucket's sum starts as soon as backward has made its last
// gradient, and runs on Gloo's threads while backward goes on.
class GradientBuckets {
 public:
  GradientBuckets(std::shared_ptr<Group> group, std::vector<at::Tensor> parameters, int64_t bucketBytes)
      : group_(std::move(group)), parameters_(std::move(parameters)), bucketOf_(parameters_.size()) {
    // Backward comes to the last layers first.
    for (size_t i = parameters_.size(); i-- > 0;) place(i, bucketBytes);
    for (auto& bucket : buckets_)
      bucket.flat = at::empty({bucket.elements}, parameters_[bucket.members[0]].options().requires_grad(false));
    for (size_t i = 0; i < parameters_.size(); ++i) hook(i);
  }
  ~GradientBuckets() {
    for (size_t i = 0; i < accumulators_.size(); ++i) accumulators_[i]->del_post_hook(hooks_[i]);
  }

  void begin() {
    for (auto& bucket : buckets_) {
      bucket.missing = bucket.members.size();
      bucket.pending.reset();
    }
    launched_ = 0;
    active_ = true;
  }
  // Sums what is left, waits, and puts the means where the gradients were.
  void end() {
    at::NoGradGuard guard;
    active_ = false;
    while (launched_ < buckets_.size()) launch(buckets_[launched_]);
    for (auto& bucket : buckets_) {
      bucket.pending->wait();
      bucket.flat.div_(group_->size());
      for (size_t at = 0; at < bucket.members.size(); ++at) {
        auto& gradient = parameters_[bucket.members[at]].mutable_grad();
        if (gradient.defined()) gradient.copy_(part(bucket, at).view_as(gradient));
      }
    }
  }

 private:
  struct Bucket {
    std::vector<size_t> members;
    std::vector<int64_t> offsets;
    int64_t elements = 0;
    at::Tensor flat;
    size_t missing = 0;
    std::unique_ptr<Pending> pending;
  };

  void place(size_t i, int64_t bucketBytes) {
    const auto& parameter = parameters_[i];
    const bool fits =
        !buckets_.empty() && parameters_[buckets_.back().members[0]].scalar_type() == parameter.scalar_type() &&
        (buckets_.back().elements + parameter.numel()) * static_cast<int64_t>(parameter.element_size()) <= bucketBytes;
    if (!fits) buckets_.emplace_back();
    auto& bucket = buckets_.back();
    bucket.members.push_back(i);
    bucket.offsets.push_back(bucket.elements);
    bucket.elements += parameter.numel();
    bucketOf_[i] = buckets_.size() - 1;
  }
  void hook(size_t i) {
    auto accumulator = torch::autograd::impl::grad_accumulator(parameters_[i]);
    using List = std::vector<at::Tensor>;
    auto body = [this, i](const List& outputs, const List&) {
      if (active_) ready(i);
      return outputs;
    };
    hooks_.push_back(accumulator->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(body)));
    // The parameter holds its accumulator weakly.
    accumulators_.push_back(std::move(accumulator));
  }
  void ready(size_t i) {
    auto& bucket = buckets_[bucketOf_[i]];
    if (--bucket.missing > 0) return;
    // In the same order in every process, whatever came first here.
    while (launched_ < buckets_.size() && buckets_[launched_].missing == 0) launch(buckets_[launched_]);
  }
  void launch(Bucket& bucket) {
    at::NoGradGuard guard;
    for (size_t at = 0; at < bucket.members.size(); ++at) {
      const auto& gradient = parameters_[bucket.members[at]].grad();
      if (gradient.defined()) {
        part(bucket, at).copy_(gradient.reshape(-1));
      } else {
        part(bucket, at).zero_();
      }
    }
    bucket.pending = group_->sum(bucket.flat);
    ++launched_;
  }
  at::Tensor part(const Bucket& bucket, size_t at) const {
    return bucket.flat.narrow(0, bucket.offsets[at], parameters_[bucket.members[at]].numel());
  }

  std::shared_ptr<Group> group_;
  std::vector<at::Tensor> parameters_;
  std::vector<size_t> bucketOf_;
  std::vector<Bucket> buckets_;
  // Held by shared pointers in libtorch 1.13, by intrusive ones in 2.13.
  std::vector<decltype(torch::autograd::impl::grad_accumulator(std::declval<const at::Tensor&>()))> accumulators_;
  std::vector<uintptr_t> hooks_;
  size_t launched_ = 0;
  bool active_ = false;
};

namespace {

Group& groupOf(State& state) {
  if (!state.group) throw KindError("this process is in no group");
  return *state.group;
}

at::Tensor meanOver(Group& group, const at::Tensor& tensor) {
  auto out = tensor.detach().clone(at::MemoryFormat::Contiguous);
  group.sum(out)->wait();
  return out.div_(group.size());
}

// Keeps a group in what autograd saves, for as long as a tensor's history refers to it.
struct HeldGroup : torch::CustomClassHolder {
  explicit HeldGroup(std::shared_ptr<Group> held) : group(std::move(held)) {}
  const std::shared_ptr<Group> group;
};

// The mean over the processes; its gradient is the mean of theirs. With losses that are averaged over the processes
// too, that is the gradient of the one loss they have together.
struct MeanOverGroup : torch::autograd::Function<MeanOverGroup> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& tensor,
                            const std::shared_ptr<Group>& group) {
    context->saved_data["group"] = c10::IValue::make_capsule(c10::make_intrusive<HeldGroup>(group));
    return meanOver(*group, tensor);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto held = c10::static_intrusive_pointer_cast<HeldGroup>(context->saved_data["group"].toCapsule());
    return {meanOver(*held->group, gradients[0]), at::Tensor()};
  }
};

// Work on another thread that ends in a promise.
class Waiting : public Napi::AsyncWorker {
 public:
  explicit Waiting(Napi::Env env) : AsyncWorker(env), promise_(Napi::Promise::Deferred::New(env)) {}
  Napi::Promise promise() const { return promise_.Promise(); }

 protected:
  virtual void work() = 0;
  virtual Napi::Value result() { return Env().Undefined(); }

  void Execute() override {
    try {
      work();
    } catch (const LostError& error) {
      fail("HSN_LOST", error.what());
    } catch (const c10::Error& error) {
      fail("HSN_TORCH", error.what_without_backtrace());
    } catch (const std::exception& error) {
      fail("HSN_TORCH", error.what());
    }
  }
  void OnOK() override { promise_.Resolve(result()); }
  void OnError(const Napi::Error& error) override {
    error.Value().Set("code", code_);
    promise_.Reject(error.Value());
  }

 private:
  void fail(const char* code, const std::string& message) {
    code_ = code;
    SetError(message);
  }
  const Napi::Promise::Deferred promise_;
  std::string code_;
};

class Reaching : public Waiting {
 public:
  Reaching(Napi::Env env, State& state, Place place) : Waiting(env), state_(state), place_(std::move(place)) {}

 protected:
  void work() override { group_ = Group::meet(place_); }
  Napi::Value result() override {
    state_.group = std::move(group_);
    return Env().Undefined();
  }

 private:
  State& state_;
  const Place place_;
  std::shared_ptr<Group> group_;
};

// A question to the store; the answer is a text or null.
class Asking : public Waiting {
 public:
  using Question = std::function<std::optional<std::string>(Group&)>;
  Asking(Napi::Env env, std::shared_ptr<Group> group, Question question)
      : Waiting(env), group_(std::move(group)), question_(std::move(question)) {}

 protected:
  void work() override { answer_ = question_(*group_); }
  Napi::Value result() override {
    if (!answer_) return Env().Null();
    return Napi::String::New(Env(), *answer_);
  }

 private:
  const std::shared_ptr<Group> group_;
  const Question question_;
  std::optional<std::string> answer_;
};

class Totalling : public Waiting {
 public:
  // `values` are on the device that the group's collectives take.
  Totalling(Napi::Env env, Group& group, at::Tensor values)
      : Waiting(env), values_(std::move(values)), pending_(group.sum(values_)) {}

 protected:
  void work() override {
    pending_->wait();
    totals_ = values_.cpu();
  }
  Napi::Value result() override {
    auto out = Napi::Array::New(Env(), totals_.numel());
    for (uint32_t i = 0; i < totals_.numel(); ++i) out.Set(i, totals_.data_ptr<double>()[i]);
    return out;
  }

 private:
  const at::Tensor values_;
  at::Tensor totals_;
  const std::unique_ptr<Pending> pending_;
};

Napi::Value start(Waiting* waiting) {
  const auto promise = waiting->promise();
  waiting->Queue();
  return promise;
}

Napi::Value GroupBackends(Args info, State&) {
  auto out = Napi::Array::New(info.Env());
  for (const char* name : {"gloo", "nccl"}) {
    if (Group::has(name)) out.Set(out.Length(), name);
  }
  return out;
}

Napi::Value GroupMeet(Args info, State& state) {
  if (state.group) throw KindError("this process is in a group already");
  Place place{{info[0].ToString(), static_cast<uint16_t>(number(info, 1))},
              info[2].ToString(),
              static_cast<int>(number(info, 3)),
              static_cast<int>(number(info, 4)),
              std::chrono::milliseconds(static_cast<int64_t>(number(info, 5) * 1000))};
  return start(new Reaching(info.Env(), state, std::move(place)));
}

Napi::Value GroupLeave(Args info, State& state) {
  groupOf(state);
  return start(new Asking(info.Env(), state.group,
                          [name = info[0].ToString().Utf8Value(), text = info[1].ToString().Utf8Value()](Group& group) {
                            return group.leave(name, text) ? std::optional<std::string>(text) : std::nullopt;
                          }));
}

Napi::Value GroupFind(Args info, State& state) {
  groupOf(state);
  return start(new Asking(info.Env(), state.group,
                          [name = info[0].ToString().Utf8Value()](Group& group) { return group.find(name); }));
}

Napi::Value GroupJoin(Args info, State& state) {
  groupOf(state);
  std::vector<std::string> names;
  const auto given = info[1].As<Napi::Array>();
  for (uint32_t i = 0; i < given.Length(); ++i) names.push_back(given.Get(i).ToString());
  return start(new Asking(info.Env(), state.group, [backend = info[0].ToString().Utf8Value(), names](Group& group) {
    group.join(backend, names);
    return std::nullopt;
  }));
}

Napi::Value GroupClose(Args info, State& state) {
  state.buckets.reset();
  if (state.group) state.group->close();
  state.group.reset();
  return info.Env().Undefined();
}

Napi::Value GroupFail(Args info, State& state) {
  groupOf(state).fail(info[0].ToString());
  return info.Env().Undefined();
}

// All are launched before the first is waited for.
template <typename F>
void together(const std::vector<at::Tensor>& tensors, F&& launch) {
  at::NoGradGuard guard;
  std::vector<at::Tensor> plain;
  std::vector<std::unique_ptr<Pending>> pending;
  for (const auto& tensor : tensors) {
    plain.push_back(tensor.detach().contiguous());
    pending.push_back(launch(plain.back()));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    pending[i]->wait();
    if (!plain[i].is_same(tensors[i])) tensors[i].detach().copy_(plain[i]);
  }
}

Napi::Value GroupSum(Args info, State& state) {
  auto& group = groupOf(state);
  together(tensorsOf(info[0], state), [&](const at::Tensor& tensor) { return group.sum(tensor); });
  return info.Env().Undefined();
}

Napi::Value GroupBroadcast(Args info, State& state) {
  auto& group = groupOf(state);
  const auto root = static_cast<int>(number(info, 1));
  together(tensorsOf(info[0], state), [&](const at::Tensor& tensor) { return group.broadcast(tensor, root); });
  return info.Env().Undefined();
}

// Means of several tensors in one collective.
Napi::Value GroupMean(Args info, State& state) {
  groupOf(state);
  const auto tensors = tensorsOf(info[0], state);
  std::vector<at::Tensor> flat;
  for (const auto& tensor : tensors) flat.push_back(tensor.reshape(-1));
  const auto mean = MeanOverGroup::apply(at::cat(flat), state.group);
  auto out = Napi::Array::New(info.Env(), tensors.size());
  int64_t offset = 0;
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    out.Set(i, handle(info, state, mean.narrow(0, offset, tensors[i].numel()).view(tensors[i].sizes())));
    offset += tensors[i].numel();
  }
  return out;
}

Napi::Value GroupTotals(Args info, State& state) {
  auto& group = groupOf(state);
  const auto given = info[0].As<Napi::Array>();
  auto values = at::empty({static_cast<int64_t>(given.Length())}, at::kDouble);
  for (uint32_t i = 0; i < given.Length(); ++i)
    values.data_ptr<double>()[i] = numberOf(info.Env(), given.Get(i), "total");
  const c10::Device device(info[1].ToString().Utf8Value());
  return start(new Totalling(info.Env(), group, values.to(device)));
}

Napi::Value AverageGradients(Args info, State& state) {
  groupOf(state);
  state.buckets =
      std::make_shared<GradientBuckets>(state.group, tensorsOf(info[0], state), static_cast<int64_t>(number(info, 1)));
  return info.Env().Undefined();
}

Napi::Value GradientsBegin(Args info, State& state) {
  if (!state.buckets) throw KindError("no gradients are averaged in this process");
  state.buckets->begin();
  return info.Env().Undefined();
}

Napi::Value GradientsEnd(Args info, State& state) {
  if (!state.buckets) throw KindError("no gradients are averaged in this process");
  state.buckets->end();
  return info.Env().Undefined();
}

}  // namespace

void exportCollectives(Napi::Env env, Napi::Object exports, State* state) {
#define EXPORT(name, body) exports.Set(name, Napi::Function::New<bound<body>>(env, name, state))
  EXPORT("groupBackends", GroupBackends);
  EXPORT("groupMeet", GroupMeet);
  EXPORT("groupLeave", GroupLeave);
  EXPORT("groupFind", GroupFind);
  EXPORT("groupJoin", GroupJoin);
  EXPORT("groupClose", GroupClose);
  EXPORT("groupFail", GroupFail);
  EXPORT("groupSum", GroupSum);
  EXPORT("groupBroadcast", GroupBroadcast);
  EXPORT("groupMean", GroupMean);
  EXPORT("groupTotals", GroupTotals);
  EXPORT("averageGradients", AverageGradients);
  EXPORT("gradientsBegin", GradientsBegin);
  EXPORT("gradientsEnd", GradientsEnd);
#undef EXPORT
}

}  // namespace engine
