#pragma once

// Each kernel family replaces the reference's kernels in its slots; each function is in the file of the same name.
// All compute in f32.
namespace dragoman {
struct AttentionKernels;
struct ElementwiseKernels;
struct EmbeddingKernels;
struct LossKernels;
struct NormKernels;
struct OptimizerKernels;
struct ProductKernels;
struct RecurrentKernels;
struct RowKernels;
}  // namespace dragoman

namespace dragoman::cpu {

void install_activation(ElementwiseKernels& b);
void install_attention(AttentionKernels& b);
void install_attention_step(AttentionKernels& b);
void install_batch_norm(NormKernels& b);
void install_cell(RecurrentKernels& b);
void install_dropout(ElementwiseKernels& b);
void install_embedding(EmbeddingKernels& b);
void install_linear(ProductKernels& b);
void install_linear_backward(ProductKernels& b);
void install_linear_packed(ProductKernels& b);
void install_loss(LossKernels& b);
void install_norm(NormKernels& b);
void install_optimizer(OptimizerKernels& b);
void install_recurrent(RecurrentKernels& b);
void install_rotate(AttentionKernels& b);
void install_elementwise(ElementwiseKernels& b);
void install_top_k(RowKernels& b);

}  // namespace dragoman::cpu
