#include "comm/gradient_tree.h"

#include <algorithm>
#include <bit>

#include "backend/backend.h"

namespace dragoman {
namespace {

Tensor elements(const Tensor& flat, Range r) { return flat.row_range(r.begin, r.end - r.begin); }

}  // namespace

GradientTree::GradientTree(const Backend& backend, Arena& arena, const Ownership& ownership, Tensor gradients)
    : backend_(backend), arena_(arena), ownership_(ownership), buffers_{std::move(gradients)} {
  invariant(std::has_single_bit(unsigned(ownership.slices())), "the number of shards is a power of two");
}

// The largest nodes within the leaves of a rank, from left to right, which together cover its leaves. Nodes without
// sentences are left out.
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

// Zeroed, since the gaps between the gradients of two parameters are never written.
Tensor GradientTree::buffer(size_t number) {
  while (buffers_.size() <= number) {
    buffers_.push_back(arena_.allocate(buffers_[0].shape(), buffers_[0].dtype()));
    backend_.fill(blocks(buffers_.back()), 0.0);
  }
  return buffers_[number];
}

void GradientTree::reserve() {
  sum(std::vector<bool>(size_t(ownership_.slices()), true), [](int, const Tensor&) {});
}

// Sums a node's shards into the buffer of this index; the buffers after it are for right halves.
void GradientTree::learn_node(Node node, const std::vector<bool>& has_sentences, const Learn& learn, size_t number) {
  if (node.leaf()) return learn(node.begin, buffer(number));
  const bool left = any(node.left(), has_sentences), right = any(node.right(), has_sentences);
  if (left) learn_node(node.left(), has_sentences, learn, number);
  if (right) learn_node(node.right(), has_sentences, learn, number + left);
  if (left && right) add(buffer(number), buffer(number + 1));
}

// Reshapes to a matrix with one block per row, since kernels distribute rows over threads.
Tensor GradientTree::blocks(const Tensor& flat) const {
  return flat.reshaped({flat.elements() / ownership_.block(), ownership_.block()});
}

void GradientTree::add(const Tensor& left, const Tensor& right) const {
  backend_.add(blocks(left), blocks(right), 1.0);
}

// This rank's elements of a node's sum, computed in place in the memory of its leftmost part; empty if none of its
// shards has sentences.
Tensor GradientTree::total(Node node, const Sums& sums) const {
  if (const auto known = sums.find(node); known != sums.end()) return known->second;
  if (node.leaf()) return {};
  const Tensor left = total(node.left(), sums), right = total(node.right(), sums);
  if (!left || !right) return left ? left : right;
  add(left, right);
  return left;
}

// Buffers for this rank's elements of all nodes: its own nodes, whose sums are in the first buffers, and those that
// other ranks send.
GradientTree::Messages GradientTree::messages(const std::vector<Node>& own, const std::vector<bool>& has_sentences) {
  const Communicator& ranks = ownership_.ranks();
  Messages all;
  for (size_t i = 0; i < own.size(); ++i) all.sums[own[i]] = elements(buffers_[i], ownership_.own());
  const int64_t count = length(ownership_.own());
  size_t free = std::max<size_t>(1, own.size());
  int64_t used = 0;
  for (int r = 0; r < ranks.size(); ++r) {
    if (r == ranks.rank()) continue;
    for (size_t i = 0; i < own.size(); ++i) all.out.push_back({r, elements(buffers_[i], ownership_.elements_of(r))});
    for (const Node node : nodes_of(r, has_sentences)) {
      if (used + count > buffers_[0].elements()) ++free, used = 0;
      all.sums[node] = buffer(free).row_range(used, count);
      used += count;
      all.in.push_back({r, all.sums[node]});
    }
  }
  return all;
}

void GradientTree::sum(const std::vector<bool>& has_sentences, const Learn& learn) {
  const std::vector<Node> own = nodes_of(ownership_.ranks().rank(), has_sentences);
  Messages all;
  std::exception_ptr out_of_memory;
  try {
    for (size_t i = 0; i < own.size(); ++i) learn_node(own[i], has_sentences, learn, i);
    all = messages(own, has_sentences);
  } catch (const OutOfMemory&) {
    out_of_memory = std::current_exception();
  }
  const bool anywhere = ownership_.ranks().any(bool(out_of_memory));
  if (out_of_memory) std::rethrow_exception(out_of_memory);
  if (anywhere) throw OutOfMemory("another rank has too little memory");

  exchange(ownership_.ranks(), all.out, all.in);
  const Tensor result = total({0, ownership_.slices()}, all.sums);
  const Tensor local = elements(buffers_[0], ownership_.own());
  if (!result)
    backend_.fill(local, 0.0);
  else if (result.data() != local.data())
    backend_.copy(local, result);
}

}  // namespace dragoman
