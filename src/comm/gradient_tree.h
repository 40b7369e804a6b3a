#pragma once
#include <functional>
#include <map>
#include <vector>

#include "comm/ownership.h"
#include "comm/tensor_exchange.h"
#include "tensor/arena.h"

namespace dragoman {

struct Backend;

/// Sums the gradients of an update's shards in a fixed binary tree: a node is the sum of its two halves, [0,8) = [0,4)
/// + [4,8). Each rank computes consecutive leaves, sums the nodes within its own leaves, and sends every other rank the
/// slices of these sums that the receiver owns. The owner of a slice completes the tree for it. So the sum depends on
/// the shards, bit for bit, and not on the number of ranks. Shards without sentences are left out. Memory besides the
/// gradients: log2(shards of a rank) buffers of the same size, and with several ranks at least one, for received sums;
/// more if the number of ranks R is not a power of two. Traffic per rank and direction, if R is a power of two: 1 - 1/R
/// of the gradients, which is the minimum.
class GradientTree {
 public:
  /// `gradients` is the flat buffer for the sum. The number of shards equals the number of slices, a power of two.
  GradientTree(const Backend& backend, Arena& arena, const Ownership& ownership, Tensor gradients);

  /// Allocates all memory that a sum may need.
  void reserve();

  /// Computes the gradients of one of this rank's shards into a flat buffer like that of the sum.
  using Learn = std::function<void(int shard, const Tensor& gradients)>;

  /// `has_sentences` says for each shard whether it has sentences. `learn` is called in the order of shards.
  /// Afterwards, this rank's own elements of the sum's buffer contain the sum over all shards, or zero if no shard has
  /// sentences. If a rank has too little memory, all ranks throw OutOfMemory.
  void sum(const std::vector<bool>& has_sentences, const Learn& learn);

 private:
  struct Node {
    int begin, end;
    bool operator<(const Node& other) const { return std::pair(begin, end) < std::pair(other.begin, other.end); }
    bool leaf() const { return end - begin == 1; }
    Node left() const { return {begin, (begin + end) / 2}; }
    Node right() const { return {(begin + end) / 2, end}; }
  };
  using Sums = std::map<Node, Tensor>;  // this rank's elements of the nodes' sums
  struct Messages {
    Sums sums;  // complete once the messages have arrived
    std::vector<TensorMessage> out, in;
  };

  std::vector<Node> nodes_of(int rank, const std::vector<bool>& has_sentences) const;
  Messages messages(const std::vector<Node>& own, const std::vector<bool>& has_sentences);
  void add_nodes_within(Range leaves, Node node, std::vector<Node>& nodes) const;
  bool any(Node node, const std::vector<bool>& has_sentences) const;
  Tensor buffer(size_t number);
  void learn_node(Node node, const std::vector<bool>& has_sentences, const Learn& learn, size_t number);
  Tensor blocks(const Tensor& flat) const;
  void add(const Tensor& left, const Tensor& right) const;
  Tensor total(Node node, const Sums& sums) const;

  const Backend& backend_;
  Arena& arena_;
  const Ownership& ownership_;
  std::vector<Tensor> buffers_;  // the first one is that of the sum
};

}  // namespace dragoman
