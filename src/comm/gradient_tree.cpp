#include "comm/gradient_tree.h"

#include <algorithm>
#include <bit>

#include "backend/backend.h"
#include "comm/tensor_exchange.h"

namespace dragoman {
namespace {

Tensor elements(const Tensor& flat, Range r) { return flat.row_range(r.begin, r.end - r.begin); }

}  // namespace

GradientTree::GradientTree(const Backend& backend, Arena& arena, const Ownership& ownership, Tensor gradients)
    : backend_(backend), arena_(arena), ownership_(ownership), gradients_(std::move(gradients)) {
  invariant(std::has_single_bit(unsigned(ownership.slices())), "the number of shards is a power of two");
}

// The largest nodes that lie within the leaves of a rank, from left to right; together they are its leaves. Without
// those that have no sentences.
std::vector<GradientTree::Node> GradientTree::nodes_of(int rank, const std::vector<bool>& has_sentences) const {
  std::vector<Node> nodes;
  add_nodes_within(ownership_.slices_of(rank), {0, ownership_.slices()}, nodes);
  std::erase_if(nodes, [&](Node n) { return !any(n, has_sentences); });
  return nodes;
}

void GradientTree::add_nodes_within(Range leaves, Node node, std::vector<Node>& nodes) const {
  if (node.begin >= leaves.end || node.end <= leaves.begin) return;
  if (node.begin >= leaves.begin && node.end <= leaves.end) return nodes.push_back(node);
  add_nodes_within(leaves, node.left(), nodes);
  add_nodes_within(leaves, node.right(), nodes);
}

bool GradientTree::any(Node node, const std::vector<bool>& has_sentences) const {
  return std::any_of(has_sentences.begin() + node.begin, has_sentences.begin() + node.end, [](bool b) { return b; });
}

Tensor GradientTree::room(size_t number) {
  while (rooms_.size() <= number) rooms_.push_back(arena_.allocate(gradients_.shape(), gradients_.dtype()));
  return rooms_[number];
}

void GradientTree::reserve() {
  sum(std::vector<bool>(size_t(ownership_.slices()), true), [](int) {});
}

// The sum of a node's shards, in the flat buffer of gradients or in a room from `free_room` on.
Tensor GradientTree::learn_node(Node node, const std::vector<bool>& has_sentences,
                                const std::function<void(int)>& learn, size_t free_room) {
  if (node.leaf()) return learn(node.begin), gradients_;
  if (!any(node.left(), has_sentences)) return learn_node(node.right(), has_sentences, learn, free_room);
  Tensor left = learn_node(node.left(), has_sentences, learn, free_room);
  if (!any(node.right(), has_sentences)) return left;
  left = kept(left, free_room);
  add(left, learn_node(node.right(), has_sentences, learn, free_room + 1));
  return left;
}

// A sum where the next backward pass does not write.
Tensor GradientTree::kept(const Tensor& sum, size_t free_room) {
  if (sum.data() != gradients_.data()) return sum;
  backend_.copy(blocks(room(free_room)), blocks(sum));
  return room(free_room);
}

// As rows, which kernels share out among threads.
Tensor GradientTree::blocks(const Tensor& flat) const {
  return flat.reshaped({flat.elements() / ownership_.block(), ownership_.block()});
}

void GradientTree::add(const Tensor& left, const Tensor& right) const {
  backend_.add(blocks(left), blocks(right), 1.0);
}

// This rank's elements of a node's sum, made in the memory of its leftmost part; empty if none of its shards has
// sentences.
Tensor GradientTree::total(Node node, const Sums& sums) const {
  if (const auto known = sums.find(node); known != sums.end()) return known->second;
  if (node.leaf()) return {};
  const Tensor left = total(node.left(), sums), right = total(node.right(), sums);
  if (!left || !right) return left ? left : right;
  add(left, right);
  return left;
}

// The sums of this rank's nodes. The last one may stay where backward passes write.
std::vector<GradientTree::Sum> GradientTree::sum_own(const std::vector<bool>& has_sentences,
                                                     const std::function<void(int)>& learn) {
  std::vector<Sum> own;
  const std::vector<Node> nodes = nodes_of(ownership_.ranks().rank(), has_sentences);
  for (const Node node : nodes) {
    const Tensor sum = learn_node(node, has_sentences, learn, own.size());
    own.emplace_back(node, own.size() + 1 < nodes.size() ? kept(sum, own.size()) : sum);
  }
  return own;
}

// Of all nodes, this rank's elements: its own, and what the other ranks send.
GradientTree::Sums GradientTree::exchange(const std::vector<Sum>& own, const std::vector<bool>& has_sentences) {
  Communicator& ranks = ownership_.ranks();
  Sums sums;
  for (const auto& [node, sum] : own) sums[node] = elements(sum, ownership_.own());
  std::vector<TensorMessage> out, in;
  const int64_t count = length(ownership_.own());
  const bool last_in_gradients = !own.empty() && own.back().second.data() == gradients_.data();
  size_t free_room = own.size() - size_t(last_in_gradients);
  int64_t used = 0;
  for (int r = 0; r < ranks.size(); ++r) {
    if (r == ranks.rank()) continue;
    for (const auto& [node, sum] : own) out.push_back({r, elements(sum, ownership_.elements_of(r))});
    for (const Node node : nodes_of(r, has_sentences)) {
      if (used + count > gradients_.elements()) ++free_room, used = 0;
      sums[node] = room(free_room).row_range(used, count);
      used += count;
      in.push_back({r, sums[node]});
    }
  }
  dragoman::exchange(ranks, out, in);
  return sums;
}

void GradientTree::sum(const std::vector<bool>& has_sentences, const std::function<void(int)>& learn) {
  std::vector<Sum> own;
  std::exception_ptr out_of_memory;
  try {
    own = sum_own(has_sentences, learn);
  } catch (const OutOfMemory&) {
    out_of_memory = std::current_exception();
  }
  const bool anywhere = ownership_.ranks().any(bool(out_of_memory));
  if (out_of_memory) std::rethrow_exception(out_of_memory);
  if (anywhere) throw OutOfMemory("another rank has too little memory");

  const Tensor all = total({0, ownership_.slices()}, exchange(own, has_sentences));
  const Tensor here = elements(gradients_, ownership_.own());
  if (!all)
    backend_.fill(here, 0.0);
  else if (all.data() != here.data())
    backend_.copy(here, all);
}

}  // namespace dragoman
