#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "base/file.h"
#include "vocab/wire_format.h"

namespace dragoman {

/// ONNX's type numbers (https://onnx.ai/onnx/repo-docs/IR.html), those that models need.
enum class OnnxType : uint64_t { float32 = 1, int64 = 7, boolean = 9 };

/// A size, or the name of a size that is known when the graph runs.
using OnnxDim = std::variant<int64_t, std::string>;

class OnnxGraph;

struct OnnxAttribute {
  std::string name;
  std::variant<int64_t, float, std::vector<int64_t>, const OnnxGraph*> value;
};

/// An ONNX graph (operator set 17), built in the order of computation. Values are identified by their names, which the
/// functions return. Weights are converted one at a time when the file is written.
class OnnxGraph {
 public:
  /// A main graph.
  explicit OnnxGraph(std::string name) : name_(std::move(name)), root_(*this) {}
  /// A branch of a node of `outer`. It can use the values of `outer`, adds its weights to `outer`, and must not outlive
  /// it.
  OnnxGraph(std::string name, OnnxGraph& outer) : name_(std::move(name)), root_(outer.root_) {}
  OnnxGraph(const OnnxGraph&) = delete;

  std::string input(const std::string& name, OnnxType type, const std::vector<OnnxDim>& shape);
  /// Makes a value an output of the graph, under this name.
  void output(const std::string& name, const std::string& value, OnnxType type, const std::vector<OnnxDim>& shape);

  std::string node(const std::string& op, const std::vector<std::string>& inputs,
                   const std::vector<OnnxAttribute>& attributes = {});
  /// A node with several outputs, under these names.
  void node(const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
            const std::vector<OnnxAttribute>& attributes);

  std::string number(float value);                       // ()
  std::string number(int64_t value);                     // ()
  std::string ints(const std::vector<int64_t>& values);  // (n)
  /// A float32 weight. A name that was used before returns the same weight.
  std::string weight(const std::string& name, const std::vector<int64_t>& shape,
                     std::function<std::vector<float>()> make);

  /// Writes the graph as a model file. Error if it exceeds the format's limit of 2 GiB.
  void write(const std::string& path) const;

 private:
  struct Weight {
    std::string name;
    uint64_t bytes;
    MessageBuilder header;  // the tensor without its data
    std::function<std::vector<float>()> make;
  };

  std::string constant(OnnxType type, const std::vector<int64_t>& shape, std::string_view bytes);
  MessageBuilder attribute(const OnnxAttribute& attribute) const;
  MessageBuilder message() const;  // without the weights

  std::string name_;
  OnnxGraph& root_;
  MessageBuilder nodes_, values_, constants_;  // fields of a GraphProto
  std::vector<Weight> weights_;
  int nodes_made_ = 0, constants_made_ = 0;
};

}  // namespace dragoman
