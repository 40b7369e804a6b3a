#include "interop/onnx_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace dragoman {
namespace {

// Field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
namespace field {
enum Model : uint64_t { ir_version = 1, producer = 2, graph = 7, operator_set = 8 };
enum OperatorSet : uint64_t { domain = 1, version = 2 };
enum Graph : uint64_t { node = 1, graph_name = 2, initializer = 5, input = 11, output = 12 };
enum Node : uint64_t { node_input = 1, node_output = 2, node_name = 3, op_type = 4, attribute = 5 };
enum Attribute : uint64_t { attribute_name = 1, f = 2, i = 3, g = 6, ints = 8, attribute_type = 20 };
enum Tensor : uint64_t { dims = 1, data_type = 2, tensor_name = 8, raw_data = 9 };
enum Value : uint64_t { value_name = 1, value_type = 2 };
enum Type : uint64_t { tensor_type = 1, element_type = 1, shape = 2, dim = 1, dim_value = 1, dim_name = 2 };
}  // namespace field

enum AttributeType : uint64_t { type_float = 1, type_int = 2, type_graph = 5, type_ints = 7 };

constexpr uint64_t ir_version = 8, operator_set = 17;

MessageBuilder tensor_header(const std::string& name, OnnxType type, const std::vector<int64_t>& shape) {
  MessageBuilder tensor;
  for (const int64_t size : shape) tensor.number(field::dims, uint64_t(size));
  tensor.number(field::data_type, uint64_t(type));
  tensor.bytes(field::tensor_name, name);
  return tensor;
}

MessageBuilder value_of(const std::string& name, OnnxType type, const std::vector<OnnxDim>& sizes) {
  MessageBuilder shape, tensor, whole, value;
  for (const OnnxDim& size : sizes) {
    MessageBuilder dim;
    if (const auto* number = std::get_if<int64_t>(&size))
      dim.number(field::dim_value, uint64_t(*number));
    else
      dim.bytes(field::dim_name, std::get<std::string>(size));
    shape.message(field::dim, dim);
  }
  tensor.number(field::element_type, uint64_t(type));
  tensor.message(field::shape, shape);
  whole.message(field::tensor_type, tensor);
  value.bytes(field::value_name, name);
  value.message(field::value_type, whole);
  return value;
}

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

std::string OnnxGraph::input(const std::string& name, OnnxType type, const std::vector<OnnxDim>& shape) {
  values_.message(field::input, value_of(name, type, shape));
  return name;
}

void OnnxGraph::output(const std::string& name, const std::string& value, OnnxType type,
                       const std::vector<OnnxDim>& shape) {
  node("Identity", {value}, {name}, {});
  values_.message(field::output, value_of(name, type, shape));
}

std::string OnnxGraph::node(const std::string& op, const std::vector<std::string>& inputs,
                            const std::vector<OnnxAttribute>& attributes) {
  std::string result = fmt::format("{}/{}_{}", name_, op, nodes_made_);
  node(op, inputs, std::vector{result}, attributes);
  return result;
}

void OnnxGraph::node(const std::string& op, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, const std::vector<OnnxAttribute>& attributes) {
  MessageBuilder node;
  for (const std::string& input : inputs) node.bytes(field::node_input, input);
  for (const std::string& output : outputs) node.bytes(field::node_output, output);
  node.bytes(field::node_name, fmt::format("{}/{}_node_{}", name_, op, nodes_made_++));
  node.bytes(field::op_type, op);
  for (const OnnxAttribute& one : attributes) node.message(field::attribute, attribute(one));
  nodes_.message(field::node, node);
}

MessageBuilder OnnxGraph::attribute(const OnnxAttribute& attribute) const {
  MessageBuilder message;
  message.bytes(field::attribute_name, attribute.name);
  struct Visitor {
    MessageBuilder& to;
    uint64_t operator()(int64_t value) const { return to.number(field::i, uint64_t(value)), type_int; }
    uint64_t operator()(float value) const { return to.number(field::f, value), type_float; }
    uint64_t operator()(const std::vector<int64_t>& values) const {
      for (const int64_t value : values) to.number(field::ints, uint64_t(value));
      return type_ints;
    }
    uint64_t operator()(const OnnxGraph* graph) const { return to.message(field::g, graph->message()), type_graph; }
  };
  const uint64_t type = std::visit(Visitor{message}, attribute.value);
  message.number(field::attribute_type, type);
  return message;
}

std::string OnnxGraph::constant(OnnxType type, const std::vector<int64_t>& shape, std::string_view bytes) {
  OnnxGraph& root = root_;
  std::string name = fmt::format("constant_{}", root.constants_made_++);
  MessageBuilder tensor = tensor_header(name, type, shape);
  tensor.bytes(field::raw_data, bytes);
  root.constants_.message(field::initializer, tensor);
  return name;
}

std::string OnnxGraph::number(float value) { return constant(OnnxType::float32, {}, bytes_of(std::vector{value})); }

std::string OnnxGraph::number(int64_t value) { return constant(OnnxType::int64, {}, bytes_of(std::vector{value})); }

std::string OnnxGraph::ints(const std::vector<int64_t>& values) {
  return constant(OnnxType::int64, {int64_t(values.size())}, bytes_of(values));
}

std::string OnnxGraph::weight(const std::string& name, const std::vector<int64_t>& shape,
                              std::function<std::vector<float>()> make) {
  std::vector<Weight>& weights = root_.weights_;
  if (std::ranges::count(weights, name, &Weight::name) > 0) return name;
  uint64_t bytes = sizeof(float);
  for (const int64_t size : shape) bytes *= uint64_t(size);
  MessageBuilder header = tensor_header(name, OnnxType::float32, shape);
  header.begin(field::raw_data, bytes);
  weights.push_back({name, bytes, std::move(header), std::move(make)});
  return name;
}

MessageBuilder OnnxGraph::message() const {
  MessageBuilder graph = nodes_;
  graph.bytes(field::graph_name, name_);
  return graph.append(constants_), graph.append(values_), graph;
}

void OnnxGraph::write(const std::string& path) const {
  MessageBuilder set, model;
  set.bytes(field::domain, "");
  set.number(field::version, operator_set);
  model.number(field::ir_version, ir_version);
  model.bytes(field::producer, "dragoman");
  model.message(field::operator_set, set);

  const MessageBuilder graph = message();
  std::vector<MessageBuilder> beginnings;  // for each weight
  uint64_t bytes = graph.text().size();
  for (const Weight& weight : weights_) {
    MessageBuilder beginning;
    beginning.begin(field::initializer, weight.header.text().size() + weight.bytes);
    beginning.append(weight.header);
    bytes += beginning.text().size() + weight.bytes;
    beginnings.push_back(std::move(beginning));
  }
  model.begin(field::graph, bytes);
  require(model.text().size() + bytes <= uint64_t(std::numeric_limits<int32_t>::max()),
          "{}: the weights have {} bytes in float32, but an ONNX file can hold only 2 GiB", path, bytes);
  write_atomically(path, [&](FileWriter& out) {
    out.write(model.text());
    out.write(graph.text());
    for (size_t i = 0; i < weights_.size(); ++i) {
      out.write(beginnings[i].text());
      const std::vector<float> values = weights_[i].make();
      invariant(values.size() * sizeof(float) == weights_[i].bytes, "the weight's size must match its shape");
      out.write(bytes_of(values));
    }
  });
}

}  // namespace dragoman
