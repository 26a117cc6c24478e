// The page of a load served: the plans, and the frontier of throughput against latency as a picture.
#include <fmt/format.h>

#include <map>

#include "render/answers.h"
#include "render/page.h"
#include "render/units.h"

namespace tilewright::render {
namespace {

std::string plans_html(const ServeAnswer& answer) {
    std::vector<std::vector<std::string>> rows;
    for (const ServePlan& plan : answer.found.plans) {
        const Served& served = plan.served;
        rows.push_back(
            {replica_words(plan.layout.parallel), std::to_string(plan.layout.parallel.dp),
             plan.prefill_gpus > 0 ? fmt::format("{}, tp {}", plan.prefill_gpus, plan.prefill_tp) : "",
             std::to_string(plan.gpus), std::to_string(plan.limits.max_batch), std::to_string(plan.limits.chunk),
             grouped_text(served.output_tok_s / static_cast<double>(plan.gpus)), time_text({served.ttft_s.p95}),
             time_text({served.tpot_s.p95}), plan.within ? "met" : "missed"});
    }
    if (rows.empty()) return "";
    return html_table({{"replica"},
                       {"replicas", Align::Right},
                       {"to prefill", Align::Right},
                       {"GPUs", Align::Right},
                       {"batch", Align::Right, true},
                       {"chunk", Align::Right, true},
                       {"tokens/s/GPU", Align::Right, true},
                       {"first p95", Align::Right},
                       {"token p95", Align::Right},
                       {"limits"}},
                      rows);
}

}  // namespace

Chart frontier_chart(const std::vector<FrontierPoint>& frontier) {
    Chart chart{"Latency against throughput, serving", ""};
    chart.x = {"throughput (output tokens/s per GPU)", true};
    chart.y = {"time per output token (ms)", true};
    std::map<std::string, std::size_t> places;
    for (const FrontierPoint& point : frontier) {
        const std::string name = replica_words(point.parallel);
        const auto [place, fresh] = places.emplace(name, chart.series.size());
        if (fresh) chart.series.push_back({name, Mark::Line});
        Series& line = chart.series[place->second];
        line.x.push_back(point.output_tok_s_gpu);
        line.y.push_back(point.tpot.value * 1e3);
        line.labels.push_back(grouped_text(point.batch));
        line.notes.push_back(
            fmt::format("{}, {} requests of a replica\n{} per token, {} to the first\n{} tokens/s per GPU", name,
                        grouped_text(point.batch), time_text(point.tpot), time_text(point.ttft),
                        grouped_text(point.output_tok_s_gpu)));
    }
    for (Series& line : chart.series) {
        if (line.x.size() == 1) line.mark = Mark::Points;  // a line of one point is nothing
    }
    if (!frontier.empty()) {
        const FrontierPoint &first = frontier.front(), &last = frontier.back();
        chart.description =
            fmt::format("From {} tokens/s per GPU at {} a token ({}) to {} at {} ({}).",
                        grouped_text(first.output_tok_s_gpu), time_text(first.tpot), replica_words(first.parallel),
                        grouped_text(last.output_tok_s_gpu), time_text(last.tpot), replica_words(last.parallel));
    }
    return chart;
}

std::string served_html(const ServeAnswer& answer) {
    const std::string title =
        answer.shape.name + " served on " + (answer.cluster.empty() ? answer.device.name : answer.cluster);
    std::string out = "<article>\n" + element("h1", title) + element("p", served_words(answer));
    std::string ways = plans_html(answer);
    if (const std::string unmet = unmet_text(answer); !unmet.empty()) ways += element("p", unmet);
    if (!answer.found.plans.empty()) {
        for (const std::string& words : cost_words(answer.found.plans.front(), answer)) ways += element("p", words);
    }
    out += section("Ways to serve it", ways);
    if (!answer.found.frontier.empty()) {
        const Chart chart = frontier_chart(answer.found.frontier);
        out += section("Throughput against latency",
                       figure(svg(chart, {720, 400}), svg(chart, {358, 340}),
                              "No way to serve these lengths has more throughput at as little latency; the numbers say "
                              "how many requests a replica answers at once. In closed form, without queues."));
    }
    return page(title, served_words(answer), out + "</article>\n");
}

}  // namespace tilewright::render
