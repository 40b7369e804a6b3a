#pragma once

// Each kernel family fills its slots of the table; each function is in the file of the same name.
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

namespace dragoman::reference {

void install_activation(ElementwiseKernels& b);
void install_attention(AttentionKernels& b);
void install_batch_norm(NormKernels& b);
void install_cell(RecurrentKernels& b);
void install_copying(LossKernels& b);
void install_dropout(ElementwiseKernels& b);
void install_elementwise(ElementwiseKernels& b);
void install_embedding(EmbeddingKernels& b);
void install_experts(RowKernels& b);
void install_hard_attention(AttentionKernels& b);
void install_linear(ProductKernels& b);
void install_local_attention(AttentionKernels& b);
void install_loss(LossKernels& b);
void install_next_rows(RowKernels& b);
void install_norm(NormKernels& b);
void install_optimizer(OptimizerKernels& b);
void install_recurrent(RecurrentKernels& b);
void install_rows(RowKernels& b);

}  // namespace dragoman::reference
