// Memory is a test, too: what PyTorch allocated at most in training steps on an H200, eager by bench/pytorch_models.py
// memory and compiled by bench/train_steps.py (docs/clusters.md, "Memory"), against a bound that may only tighten.
#include <gtest/gtest.h>

#include <cmath>

#include "files/input.h"
#include "read/csv.h"
#include "tilewright/cost.h"
#include "tilewright/memory.h"
#include "tilewright/read.h"

namespace tilewright {
namespace {

constexpr double bound = 0.005;

/// The named model, with the row's own sizes where it has them.
Shape shape_of(read::CsvCells& cells) {
    Shape shape = *find_model(cells.label("model"));
    const std::pair<const char*, std::int64_t*> named[] = {{"hidden", &shape.hidden},     {"layers", &shape.layers},
                                                           {"heads", &shape.heads},       {"kv_heads", &shape.kv_heads},
                                                           {"head_dim", &shape.head_dim}, {"ffn", &shape.ffn},
                                                           {"vocab", &shape.vocab}};
    for (const auto& [name, size] : named) *size = cells.optional_integer(name, read::sizes).value_or(*size);
    return shape;
}

double allocated(read::CsvCells& cells, const Pricer& pricer) {
    Workload work;
    work.batch = cells.integer("batch", read::sizes);
    work.seq = cells.integer("seq", read::sizes);
    work.runtime = cells.required_word<RuntimeId>("runtime");
    return memory(shape_of(cells), work, pricer).allocated.value;
}

TEST(MeasuredMemory, StaysWithinItsBound) {
    const std::string path = TILEWRIGHT_SOURCE_DIR "/tests/measured_memory.csv";
    const std::string text = *files::read_whole(path);
    const auto table = read::read_csv(text, path);
    ASSERT_TRUE(table.ok());
    EXPECT_GE(table->rows.size(), 29u);
    const Device device = *find_device("h200");
    const Pricer h200(device, find_profile(device));
    for (const read::CsvRow& row : table->rows) {
        read::CsvCells cells(*table, row);
        const double measured = cells.positive("measured_bytes");
        EXPECT_LE(std::abs(allocated(cells, h200) / measured - 1), bound) << row.text;
        EXPECT_TRUE(cells.clean()) << row.text;
    }
}

}  // namespace
}  // namespace tilewright
