#pragma once
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "comm/ownership.h"
#include "tensor/arena.h"

namespace dragoman {

struct Backend;

/// Adds up the gradients of the shards of an update in a fixed binary tree: a node is the sum of its two halves,
/// [0,8) = [0,4) + [4,8). Ranks compute neighbouring leaves, add up the nodes that lie among their own leaves, and send
/// each other the slices of these sums that the other one owns; it finishes the tree for its slices. So the bits of a
/// sum depend on the shards alone, not on the number of ranks. Shards without sentences are left out.
/// Memory beside the gradients: log2(shards of a rank) buffers of their size, and at least one with several ranks, for
/// what others send; more where the number of ranks is no power of two. Traffic of a rank, where it is one: each way
/// 1 - 1/R of the gradients, the least that is possible.
class GradientTree {
 public:
  /// `gradients` is the flat buffer for the sum; the number of shards, that of slices, is a power of two.
  GradientTree(const Backend& backend, Arena& arena, const Ownership& ownership, Tensor gradients);

  /// Allocates all memory that sums may need.
  void reserve();

  /// Computes the gradients of a shard, one of this rank's, into a flat buffer like that of the sum.
  using Learn = std::function<void(int shard, const Tensor& gradients)>;

  /// `has_sentences` says it of each shard. `learn` is called in the order of shards. Afterwards this rank's own
  /// elements of the buffer for the sum hold that over all shards, zero if there is no shard with sentences. If a rank
  /// has too little memory, all throw OutOfMemory.
  void sum(const std::vector<bool>& has_sentences, const Learn& learn);

 private:
  struct Node {
    int begin, end;
    bool operator<(const Node& other) const { return std::pair(begin, end) < std::pair(other.begin, other.end); }
    bool leaf() const { return end - begin == 1; }
    Node left() const { return {begin, (begin + end) / 2}; }
    Node right() const { return {(begin + end) / 2, end}; }
  };
  using Sums = std::map<Node, Tensor>;  // this rank's elements of them

  std::vector<Node> nodes_of(int rank, const std::vector<bool>& has_sentences) const;
  Sums exchange(const std::vector<Node>& own, const std::vector<bool>& has_sentences);
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
  std::vector<Tensor> buffers_;  // the first is that for the sum
};

}  // namespace dragoman
