// The page of a report against its golden file, and what every page must be: self-contained, escaped, whole.
#include "render/report.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "render/answers.h"
#include "render/golden.h"
#include "shape/shape_samples.h"

namespace tilewright::render {
namespace {

/// A kernel whose time is three quarters roofline and one quarter wave.
PricedOp kernel(const char* name, Component component, double time, decltype(Op::work) work) {
    PricedOp priced;
    priced.op.name = name;
    priced.op.component = component;
    priced.op.count = 2;
    priced.op.work = work;
    priced.cost.time = {time};
    priced.cost.low = {0.9 * time};
    priced.cost.high = {1.2 * time};
    priced.cost.terms[static_cast<std::size_t>(Term::Roofline)] = {0.75 * time};
    priced.cost.terms[static_cast<std::size_t>(Term::Wave)] = {0.25 * time};
    priced.total = {2 * time};
    return priced;
}

Cost tiled(double waves) {
    Cost cost;
    cost.time = {1e-3};
    cost.tile_m = 128;
    cost.tile_n = 256;
    cost.waves = waves;
    return cost;
}

Prediction prediction(const std::string& name, double slower) {
    Prediction made;
    made.shape = gpt_of(1024, 2, 16, 50257);
    made.shape.name = name;
    made.shape.source = "made up <here>";
    made.params.total = made.params.active = 76'000'000;
    made.device.name = "chip";
    made.device.full_name = "A Chip & Co";
    made.device.source = "its data sheet";
    made.device.memory = {0x1p34};
    made.device.power = {700};
    made.profile_source = "40 samples";
    made.errors = {{"gemm", "all", "all", 1200, 0.062, 0.041, 0.19, 0.91, 0.58, 0.6, 0.28},
                   {"gemm", "clock", "burst", 300, 0.04, 0.03, 0.1, 0.95, 0.4, 0.3, 0.2},
                   {"gemm", "alignment", "rows of 2 bytes", 200, 0.11, 0.07, 0.35, 0.9, 0.9, 0.9, 0.6},
                   {"stream", "kernel", "stream bias", 3, 0.04, 0.03, 0.08, 1.0, 0.5, 0.3, 0.1},
                   {"collective", "kernel", "ring of eight", 139, 0.12, 0.09, 0.3, 0.9, 0.7, 0.7, 0.4}};
    made.kernels.ops = {kernel("norm", Component::Norm, 1e-3, Stream{StreamKind::Norm, 8192, 1024, {3e7}, {3e7}}),
                        kernel("mlp up", Component::Mlp, 6e-3 * slower, Gemm{tilewright::Layout::TN, 8192, 4096, 1024}),
                        kernel("attention", Component::Attention, 4e-3, Attention{4, 16, 16, 2048, 2048, 64})};
    for (const PricedOp& priced : made.kernels.ops) {
        made.kernels.sum.time += priced.total;
        made.kernels.sum.low += priced.cost.low * 2.0;
        made.kernels.sum.high += priced.cost.high * 2.0;
    }
    made.kernels.launches = 6;
    made.kernels.clock = 0.9;
    made.flops = {5e12};
    made.mfu = 0.42;
    made.memory.total = {0x1p33};
    summarize(made);
    return made;
}

Sweep sweep(std::int64_t step) {
    Sweep made{step == 1 ? "ffn" : "ffn-far", "ffn", "the rest kept", "mlp up", 4096, step, {}};
    const std::int64_t reach = step == 1 ? 104 : 36 * step;  // many dots, and fewer
    for (std::int64_t v = 4096 - reach; v <= 4096 + reach; v += step) {
        const std::int64_t power = power_of_two_in(v, 64);
        const double rate = power >= 8 ? 5e14 : power >= 2 ? 3e14 : 2e14;
        made.points.push_back({v, power, {rate - 1e11 * static_cast<double>(v % 256)}, 3e4, tiled(double(v / 64) / 8)});
    }
    return made;
}

/// Two splits: one whose cache is full before computing takes over, and one where it does.
Serving serving() {
    Serving made;
    made.limits = {{1, 400'000, 195, 256}, {2, 900'000, 439, 256}};
    for (const Serving::Limit& limit : made.limits) {
        for (std::int64_t batch : {1, 2, 4, 8, 16, 32, 64, 128, 256, 0}) {
            if (batch > limit.full_batch) continue;
            ServingPoint point;
            point.tp = limit.tp;
            point.batch = batch == 0 ? limit.full_batch : batch;
            point.context = 2048;
            point.first_token = {0.1};
            const double requests = static_cast<double>(point.batch), gpus = static_cast<double>(limit.tp);
            point.output_token = {(4e-3 + 1e-4 * requests) / gpus + 1e-3};
            point.low = point.output_token;
            point.high = 2.0 * point.output_token;
            point.tokens_per_s_per_gpu = requests / point.output_token.value / gpus;
            point.bound = point.batch >= 256 ? Bound::Compute : Bound::Memory;
            made.points.push_back(point);
        }
    }
    return made;
}

Report sample() {
    Report report;
    report.advice.prediction = prediction("toy", 1.0);
    report.advice.findings = {{"TW001",
                               "vocabulary-not-aligned",
                               Severity::Warning,
                               "vocab 50257 is odd",
                               {"head"},
                               {1e-3},
                               0.05,
                               {{"vocab", 50257, 50264, {1e-3}, 7168}}}};
    Candidate candidate;
    candidate.time = {20e-3};
    candidate.speedup = candidate.speedup_at_equal_params = 1.1;
    candidate.low = 1.02;
    candidate.high = 1.2;
    candidate.changed = {"heads 16 -> 8"};
    candidate.causes = {{"heads 16 -> 8", Component::Attention, 1.4}};
    candidate.kv_per_token = {0x1p13};
    report.advice.found.candidates = {candidate};
    report.advice.found.recommended = candidate;
    report.alternatives = compare({prediction("as it is", 1.0), prediction("heads 16 -> 8", 0.8)});
    report.advice.found.one_knob = {candidate};
    candidate.changed = {"hidden 1024 -> 1088", "ffn 4096 -> 4160"};
    candidate.parameter_change = 0.01;
    candidate.speedup = 1.15;
    candidate.kv_per_token = {0x1p14};
    report.advice.found.parameter_front = {report.advice.found.candidates[0], candidate};
    report.advice.found.kv_front = report.advice.found.parameter_front;
    report.sweeps = {sweep(1), sweep(8), {"heads", "heads", "hidden size kept", "attention", 16, 0, {}}};
    for (const std::int64_t heads : {8, 16, 32}) {
        report.sweeps.back().points.push_back({heads, heads, {4e14 - 1e12 * static_cast<double>(heads)}, 3e4, {}});
    }
    report.serving = serving();
    report.tiles =
        TileMap{"mlp up", {tilewright::Layout::TN, 8000, 4096, 1024}, tiled(7.64), 63, 16, 1008, 132, 7, 84, 0.008};
    report.roofline = {{9.9e14},
                       {4.8e12},
                       {9e14},
                       {4.3e12},
                       {{"mlp up", Component::Mlp, 700, {6e14}, 0.55, true, {}},
                        {"norm", Component::Norm, 0.25, {8e11}, 0.09, false, {}}}};
    return report;
}

std::string page_of(const std::vector<Report>& shapes) {
    std::vector<Prediction> predictions;
    for (const Report& report : shapes) predictions.push_back(report.advice.prediction);
    return report_html({shapes, compare(predictions)});
}

/// A page without its looks and without the insides of its pictures, which are reviewed by themselves.
std::string outline(std::string page) {
    constexpr std::array<std::pair<const char*, const char*>, 3> parts = {
        {{"<style", "</style>"}, {"<script", "</script>"}, {"<svg xmlns", "</svg>\n</div>"}}};
    for (const auto& [start, end] : parts) {
        for (std::size_t at = 0; (at = page.find(start, at)) != std::string::npos; ++at) {
            const std::size_t inside = page.find('>', at) + 1;
            page.erase(inside, page.find(end, inside) - inside);
        }
    }
    return page;
}

TEST(Report, PageIsAsReviewed) { expect_golden("report.html", outline(page_of({sample()}))); }
TEST(Report, JsonIsAsReviewed) {  // one of each kind
    Report report = sample();
    report.sweeps.resize(1);
    report.sweeps[0].points.resize(1);
    report.serving.points.resize(1);
    report.serving.limits.resize(1);
    report.advice.prediction.errors.resize(1);
    report.advice.prediction.kernels.ops.resize(1);
    report.advice.found.kv_front = report.advice.found.parameter_front = {};
    expect_golden("report.json", report_json({report}));
}
TEST(Report, ComparisonIsAsReviewed) {
    const Comparison comparison = compare({prediction("toy", 1.0), prediction("toy --heads 8", 0.8)});
    expect_golden("compare.html", outline(compare_html(comparison)));
}

TEST(Report, TilesAreAsReviewed) {
    TileMap full{"qkv", {tilewright::Layout::NN, 4096, 4096, 64, 8}, tiled(40), 32, 16, 4096, 132, 31, 4, 0.0};
    full.cost.split_k = 2;
    expect_golden("tiles.svg", tile_svg(*sample().tiles, 720));
    expect_golden("tiles_narrow.svg", tile_svg(*sample().tiles, 358));
    expect_golden("tiles_many_waves.svg", tile_svg(full, 720));
}

TEST(Report, ServingIsAsReviewed) {
    expect_golden("serving.svg", svg(serving_chart(serving()), {720, 400}));
    expect_golden("serving_narrow.svg", svg(serving_chart(serving()), {358, 340}));
}

TEST(Report, MarksWhereTheCacheIsFullAndWhereComputingTakesOver) {
    std::map<std::string, std::size_t> marked;
    for (const Series& series : serving_chart(serving()).series) marked[series.name] = series.x.size();
    EXPECT_EQ(marked["KV cache full"], 2u);
    EXPECT_EQ(marked["computing takes over"], 1u) << "of one split that batch does not fit";
    EXPECT_EQ(marked["tp 1"], 9u);
    EXPECT_TRUE(serving_chart({}).series.empty());
}

TEST(Report, ShowsErrorsOfTheFamiliesThatTheStepHas) {
    const std::string page = page_of({sample()});
    EXPECT_NE(page.find("rows of 2 bytes"), std::string::npos);
    EXPECT_EQ(page.find("stream bias"), std::string::npos) << "three kernels say nothing";
    EXPECT_EQ(page.find("ring of eight"), std::string::npos) << "the step has no collective";
    Report unknown = sample();
    unknown.advice.prediction.errors.clear();
    EXPECT_NE(page_of({unknown}).find("no kernel of this GPU was held out"), std::string::npos);
}

TEST(Report, SeveralShapesAreComparedFirst) {
    const std::string page = page_of({sample(), sample()});
    EXPECT_LT(page.find("2 shapes on chip"), page.find("toy on chip</h1>"));
    EXPECT_NE(page.find("toy on chip</h1>"), page.rfind("toy on chip</h1>"));
}

TEST(Report, FetchesNothing) {
    std::string page = page_of({sample()});
    for (const std::string space = "http://www.w3.org/2000/svg"; page.find(space) != std::string::npos;) {
        page.erase(page.find(space), space.size());
    }
    for (const char* word : {"http:", "https:", "src=", "@import", "url("}) {
        EXPECT_EQ(page.find(word), std::string::npos) << word;
    }
}

TEST(Report, EscapesWhatFilesSay) {
    Report report = sample();
    report.advice.prediction.shape.name = "<script>alert(1)</script>";
    report.alternatives.shapes.back().shape.name = "\"><img>";
    const std::string page = page_of({report});
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
    EXPECT_EQ(page.find("<img>"), std::string::npos);
    EXPECT_NE(page.find("made up &lt;here&gt;"), std::string::npos);
}

TEST(Report, AFrontShowsWhatItIsRankedBy) {
    Report report = sample();
    SearchResult& found = report.advice.found;
    found.parameter_front[1].to_loss = 1.3;
    EXPECT_EQ(front_chart(found, Against::Parameters).series[0].y[1], 1.15);
    EXPECT_NE(pictures(report)[1].caption.find("is faster"), std::string::npos);
    found.objective = Objective::Loss;
    EXPECT_EQ(front_chart(found, Against::Parameters).series[0].y[1], 1.3);
    EXPECT_NE(pictures(report)[1].caption.find("sooner"), std::string::npos);
}

TEST(Report, EveryPictureHasATitleAndADescription) {
    for (const Picture& picture : pictures(sample())) {
        EXPECT_FALSE(picture.caption.empty()) << picture.name;
        for (const std::string& text : {picture.wide, picture.narrow}) {
            EXPECT_NE(text.find("<title>"), std::string::npos) << picture.name;
            EXPECT_EQ(text.find("<desc></desc>"), std::string::npos) << picture.name;
            EXPECT_EQ(text.find("nan"), std::string::npos) << picture.name;
        }
    }
}

TEST(Report, AShapeWithNothingToSayStillMakesAPage) {
    Report bare;
    bare.advice.prediction = prediction("bare", 1.0);
    bare.alternatives = compare({bare.advice.prediction});
    bare.roofline = sample().roofline;
    bare.roofline.points.clear();
    const std::string page = page_of({bare});
    EXPECT_NE(page.find("No sizing rule is broken."), std::string::npos);
    EXPECT_NE(page.find("</html>"), std::string::npos);
    EXPECT_EQ(page.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::render
