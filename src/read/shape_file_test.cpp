#include <gtest/gtest.h>

#include "tilewright/read.h"

namespace tilewright {
namespace {

TEST(ShapeFile, DefaultsFollowTheMlp) {
    const auto gpt = read_shape("[shape]\nhidden=2560\nlayers=32\nheads=32\nvocab=50257\n", "a/mine.toml");
    ASSERT_TRUE(gpt.ok()) << gpt.problems().front().what;
    const Shape& shape = gpt->shape;
    EXPECT_EQ(shape.name, "mine");
    EXPECT_EQ(shape.kv_heads, 32);
    EXPECT_EQ(shape.head_dim, 80);
    EXPECT_EQ(shape.ffn, 10240);
    EXPECT_EQ(shape.norms.kind, NormKind::Layer);
    EXPECT_TRUE(shape.tied && shape.bias.qkv && shape.bias.projection && shape.bias.mlp && !shape.bias.head);
    EXPECT_EQ(shape.positions, Positions::Learned);
    EXPECT_EQ(shape.position_rows, 0);
    EXPECT_FALSE(gpt->workload);

    const auto llama = read_shape(
        "[shape]\nhidden=4096\nlayers=32\nheads=32\nkv_heads=8\nvocab=128256\nffn=14336\nmlp=\"swiglu\"\n", "-");
    ASSERT_TRUE(llama.ok()) << llama.problems().front().what;
    EXPECT_EQ(count_parameters(llama->shape).total, 8'030'261'248);
    EXPECT_TRUE(llama->assumed.empty());
}

constexpr const char* everything = R"(
source = "a test"
[shape]
hidden = 1024
layers = 4
heads = 16
head_dim = 24
ffn = 3000
vocab = 1000
mlp = "swiglu"
positions = "none"
embedding_dim = 512
window = 128
windowed = 2
windowed_every = 3
query_key_norm_whole = true
sinks = true
tied = true
norm = "layer"
norms_per_layer = 4
final_norm = false
embedding_norm = true
query_key_norm = true
bias_qkv = true
bias_projection = true
bias_mlp = true
bias_head = true
[shape.experts]
count = 8
active = 2
ffn = 500
shared_ffn = 100
dense_layers = 1
every = 3
router_bias = true
[shape.latent]
q_rank = 7
kv_rank = 8
nope_dim = 16
rope_dim = 8
v_dim = 12
[workload]
phase = "decode"
batch = 3
seq = 77
kv_len = 99
precision = "fp8"
tp = 2
pp = 3
dp = 4
cp = 5
ep = 6
etp = 2
zero_stage = 1
runtime = "eager"
attention = "unfused"
clock = "burst"
)";

TEST(ShapeFile, EveryKeyIsRead) {
    const auto file = read_shape(everything, "x.toml");
    ASSERT_TRUE(file.ok()) << file.problems().front().what;
    Shape expected;
    expected.name = "x";
    expected.source = "a test";
    expected.hidden = 1024;
    expected.layers = 4;
    expected.heads = expected.kv_heads = 16;
    expected.head_dim = 24;
    expected.ffn = 3000;
    expected.vocab = 1000;
    expected.mlp = MlpKind::Gated;
    expected.positions = Positions::None;
    expected.embedding_dim = 512;
    expected.window = 128;
    expected.windowed = 2;
    expected.windowed_every = 3;
    expected.sinks = true;
    expected.tied = true;
    expected.bias = {true, true, true, true};
    expected.norms = {NormKind::Layer, 4, false, true, true, true};
    expected.experts = Experts{8, 2, 500, 100, 1, 3, true};
    expected.latent = Latent{7, 8, 16, 8, 12};
    EXPECT_EQ(file->shape, expected);
    Workload workload{Phase::Decode, 3, 77, 99, {}, Precision::Fp8, {2, 3, 4, 5, 6, 2, 1}, RuntimeId::PyTorch};
    workload.attention = AttentionBackend::Unfused;
    workload.clock = Clock::Burst;
    ASSERT_TRUE(file->workload);
    EXPECT_EQ(*file->workload, workload);
}

TEST(ShapeFile, TheSameFormInJson) {
    const auto file = read_shape(R"({"shape": {"hidden": 64, "layers": 1, "heads": 4, "vocab": 10}})", "x.json");
    ASSERT_TRUE(file.ok()) << file.problems().front().what;
    EXPECT_EQ(file->shape.head_dim, 16);
}

struct BadShape {
    const char* lines;  ///< after a good [shape] of four lines
    int line;
    const char* what;
    const char* fix;
};

// Line 1 is [shape]; what is tested starts at line 6.
constexpr const char* good_shape = "[shape]\nlayers = 2\nheads = 8\nhidden = 512\nvocab = 100\n";

const BadShape bad_shapes[] = {
    {"kv_heads = 0", 6, "kv_heads is 0", "an integer from 1 to 2147483648"},
    {"kv_heads = -8", 6, "kv_heads is -8", "an integer from 1"},
    {"kv_heads = 2.5", 6, "kv_heads is 2.5", "an integer from 1"},
    {"kv_heads = 8.0", 6, "kv_heads is 8.0", "an integer from 1"},
    {"kv_heads = nan", 6, "kv_heads is nan", "an integer from 1"},
    {"kv_heads = \"8\"", 6, "kv_heads is \"8\"", "an integer from 1"},
    {"kv_heads = [8]", 6, "kv_heads is a list of 1", "an integer from 1"},
    {"ffn = 4611686018427387904", 6, "ffn is 4611686018427387904", "an integer from 1"},
    {"kv_heads = 3", 6, "not a multiple of kv_heads 3", "2 or 4"},
    {"\nwindow = -1", 7, "window is -1", "an integer from 0"},
    {"tied = \"yes\"", 6, "tied is \"yes\"", "true or false"},
    {"mlp = \"swigul\"", 6, "\"swigul\" is not known", "did you mean swiglu?"},
    {"mlp = \"maxout\"", 6, "\"maxout\" is not known", "use gelu or swiglu"},
    {"mlp = 1", 6, "mlp is 1", "a string in quotes"},
    {"mlp = \"swiglu\"", 1, "\"ffn\" is missing in [shape]", "add it"},
    {"head_dims = 64", 6, "\"head_dims\" is not known in [shape]", "did you mean head_dim"},
    {"norms_per_layer = 3", 6, "norms_per_layer is 3", "give 2"},
    {"experts = 8", 6, "experts is 8", "a table"},
    {"[shape.experts]\ncount = 8\nffn = 5", 6, "\"active\" is missing in [shape.experts]", "add it"},
    {"[shape.experts]\ncount = 8\nffn = 5\nactive = 9", 9, "experts.active is 9", "from 1 to 8"},
    {"[workload]\nphase = \"training\"", 7, "\"training\" is not known", "did you mean train?"},
    {"[workload]\nbatch = 0", 7, "batch is 0", "an integer from 1"},
    {"[workload]\nzero_stage = 4", 7, "zero_stage is 4", "an integer from 0 to 3"},
    {"[workload]\nbatch = 2147483648", 7, "batch * seq", "smaller"},
    {"[worklaod]\nbatch = 1", 6, "\"worklaod\" is not known", "did you mean workload?"},
};

TEST(ShapeFile, BadValuesAreRefusedWithLineValueAndFix) {
    for (const BadShape& row : bad_shapes) {
        SCOPED_TRACE(row.lines);
        const auto file = read_shape(std::string(good_shape) + row.lines + "\n", "x.toml");
        ASSERT_FALSE(file.ok());
        ASSERT_EQ(file.problems().size(), 1u) << file.problems().back().what;
        const Problem& problem = file.problems().front();
        EXPECT_EQ(problem.line, row.line);
        EXPECT_NE(problem.what.find(row.what), std::string::npos) << problem.what;
        EXPECT_NE(problem.fix.find(row.fix), std::string::npos) << problem.fix;
    }
}

TEST(ShapeFile, AllProblemsOfAFileTogether) {
    const auto file = read_shape(
        "[shape]\nhidden = -1\nlayers = 2.5\nheads = 32\nkv_heads = 5\nmlp = \"glu\"\nhiden = 4\n[workload]\nseq = 0\n",
        "x.toml");
    ASSERT_FALSE(file.ok());
    std::vector<int> lines;
    for (const Problem& problem : file.problems()) lines.push_back(problem.line);
    EXPECT_EQ(lines, (std::vector<int>{1, 2, 3, 5, 6, 7, 9})) << "vocab is missing, the rest is bad";
}

TEST(ShapeFile, HeadsThatDoNotDivideNeedAHeadSize) {
    const std::string text = "[shape]\nlayers = 2\nheads = 48\nhidden = 2560\nvocab = 100\n";
    const auto file = read_shape(text, "x.toml");
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.problems().front().line, 3);
    EXPECT_NE(file.problems().front().fix.find("head_dim"), std::string::npos);
    EXPECT_TRUE(read_shape(text + "head_dim = 53\n", "x.toml").ok());
}

TEST(ShapeFile, AFileNamedJsonIsReadAsJson) {
    for (const std::string bytes : {"[]", "null", "// note\n{}", "hidden_size = 1"}) {
        const auto file = read_shape(bytes, "config.json");
        ASSERT_FALSE(file.ok()) << bytes;
        EXPECT_EQ(file.problems()[0].what.find("TOML"), std::string::npos) << file.problems()[0].what;
    }
}

TEST(ShapeFile, AnyOtherBytesAreRefused) {
    const std::string files[] = {"",
                                 "\n",
                                 "{",
                                 "[]",
                                 "null",
                                 "hello",
                                 "[shape]",
                                 "shape = 1",
                                 "[[shape]]",
                                 "{\"shape\": 1}",
                                 std::string(1 << 20, 'x'),
                                 std::string(1000, '\0'),
                                 std::string(1 << 16, '{'),
                                 std::string(1 << 16, '[')};
    for (const std::string& bytes : files) {
        const auto file = read_shape(bytes, "x");
        ASSERT_FALSE(file.ok()) << bytes.substr(0, 20);
        for (const Problem& problem : file.problems()) {
            EXPECT_EQ(problem.where, "x");
            EXPECT_FALSE(problem.what.empty());
        }
    }
}

}  // namespace
}  // namespace tilewright
