#include "train/shard_statistics.h"

#include <cstring>

#include "ops/norm.h"

namespace dragoman {

ShardStatistics::ShardStatistics(const Parameters& parameters) {
  for (const Parameters::Named& p : parameters.named())
    if (!p.trained) statistics_.push_back(p.value);
}

std::vector<float> ShardStatistics::values() const {
  std::vector<float> all;
  for (const Tensor& statistic : statistics_) {
    const Tensor host = statistic.on_host();
    all.insert(all.end(), host.as<float>(), host.as<float>() + host.elements());
  }
  return all;
}

void ShardStatistics::assign(const std::vector<float>& values) const {
  const float* next = values.data();
  for (const Tensor& statistic : statistics_) {
    std::vector<float> part(next, next + statistic.elements());
    statistic.assign(Tensor::borrow(part.data(), statistic.shape()));
    next += statistic.elements();
  }
}

void ShardStatistics::begin_update() {
  if (before_.empty()) before_ = values();
  added_.clear();
}

// r + momentum · (x - r) from r = 0 is the change by a micro-batch.
void ShardStatistics::begin_micro_batch() const { assign(std::vector<float>(before_.size())); }

void ShardStatistics::end_micro_batch() {
  const std::vector<float> statistics = values();
  added_.insert(added_.end(), statistics.begin(), statistics.end());
}

void ShardStatistics::apply(Communicator& ranks) {
  std::string of_all;
  for (const std::string& of_rank : ranks.gather({reinterpret_cast<const char*>(added_.data()), 4 * added_.size()}))
    of_all += of_rank;
  of_all = ranks.broadcast(of_all);
  added_.resize(of_all.size() / sizeof(float));
  std::memcpy(added_.data(), of_all.data(), of_all.size());
  for (size_t i = 0; i < added_.size(); ++i) {
    float& running = before_[i % before_.size()];
    if (added_[i] != 0) running += added_[i] - float(batch_norm_momentum) * running;
  }
  assign(before_);
  before_.clear();
}

}  // namespace dragoman
