#include "tests/model/forced_logits.h"

namespace dragoman {

std::vector<double> row_of(const Tensor& x, int64_t n) {
  std::vector<double> out(x.cols());
  for_dtype(x.dtype(), [&]<class T>() { std::copy_n(x.view<T>().row(n), x.cols(), out.begin()); });
  return out;
}

std::vector<std::vector<double>> forced_logits(Model& model, Context& cx, const Batch& batch) {
  std::vector<std::vector<double>> out(batch.target.ids.size());
  const auto decoding = model.decode(cx);
  constexpr int first = 0;
  decoding->add(first, batch.source, 1);
  std::vector<int> previous(batch.target.spans.sentences(), -1);
  for (int64_t t = 0; t < batch.target.spans.longest(); ++t) {
    std::vector<StepRow> rows;
    std::vector<int64_t> packed;
    for (int s = 0; s < batch.target.spans.sentences(); ++s) {
      const Range span = batch.target.spans[s];
      if (t == span.end - span.begin) decoding->remove(first + s);
      if (t >= span.end - span.begin) continue;
      rows.push_back({first + s, previous[s], t == 0 ? -1 : batch.target.ids[span.begin + t - 1]});
      previous[s] = int(rows.size()) - 1;
      packed.push_back(span.begin + t);
    }
    const Tensor logits = decoding->step(rows).on_host();
    decoding->keep();
    for (size_t r = 0; r < rows.size(); ++r) out[packed[r]] = row_of(logits, int64_t(r));
  }
  return out;
}

}  // namespace dragoman
