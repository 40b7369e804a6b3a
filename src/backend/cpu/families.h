#pragma once
#include "backend/backend.h"

// Each kernel family fills its slots over the reference's; one function a file of the same name. All compute in f32.
namespace dragoman::cpu {

void install_activation(Backend& b);
void install_attention(Backend& b);
void install_attention_step(Backend& b);
void install_batch_norm(Backend& b);
void install_cell(Backend& b);
void install_dropout(Backend& b);
void install_embedding(Backend& b);
void install_linear(Backend& b);
void install_linear_backward(Backend& b);
void install_linear_packed(Backend& b);
void install_loss(Backend& b);
void install_norm(Backend& b);
void install_optimizer(Backend& b);
void install_recurrent(Backend& b);
void install_rotate(Backend& b);
void install_round(Backend& b);
void install_top_k(Backend& b);

}  // namespace dragoman::cpu
