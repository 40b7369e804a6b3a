#pragma once
#include "backend/backend.h"

// Each kernel family fills its slots of the table; each function is in the file of the same name.
namespace dragoman::cuda {

void install_activation(Backend& b);
void install_attention(Backend& b);
void install_attention_step(Backend& b);
void install_batch_norm(Backend& b);
void install_cell(Backend& b);
void install_copying(Backend& b);
void install_dropout(Backend& b);
void install_elementwise(Backend& b);
void install_embedding(Backend& b);
void install_experts(Backend& b);
void install_hard_attention(Backend& b);
void install_linear(Backend& b);
void install_local_attention(Backend& b);
void install_loss(Backend& b);
void install_next_rows(Backend& b);
void install_norm(Backend& b);
void install_optimizer(Backend& b);
void install_recurrent(Backend& b);
void install_rows(Backend& b);
void install_top_k(Backend& b);

void install_kernels(Backend& b);  // all of them

}  // namespace dragoman::cuda
