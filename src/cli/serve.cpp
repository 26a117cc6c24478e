// `plan --phase serve`: the flags of a load and its limits, and a file of recorded arrivals.
#include "cli/options.h"

#include <algorithm>
#include <cmath>

#include "cli/files.h"
#include "quantity/problems.h"
#include "read/files.h"

namespace tilewright::cli {
namespace {

/// "500ms", "30 ms", "0.5s", "250us"; a plain number is seconds.
std::optional<double> parse_duration(std::string text) {
    double unit = 1;
    for (const auto& [ending, seconds] : {std::pair{"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"s", 1.0}}) {
        if (!text.ends_with(ending)) continue;
        text.resize(text.size() - std::string_view(ending).size());
        unit = seconds;
        break;
    }
    while (text.ends_with(' ')) text.pop_back();
    const auto value = parse_real(text);
    return value && *value > 0 ? std::optional(*value * unit) : std::nullopt;
}

void take_limit(const Arguments& arguments, const char* flag, std::optional<Seconds>& limit, Problems& problems) {
    const auto text = arguments.text(flag);
    if (!text) return;
    if (const auto value = parse_duration(*text)) {
        limit = Seconds{*value};
    } else {
        problems.push_back({flag, 0, "'" + *text + "' is no time", "say 500ms or 0.5s"});
    }
}

void take_rate(const Arguments& arguments, LoadShape& load, Problems& problems) {
    const auto text = arguments.text("--rate");
    if (!text && arguments.has("--arrivals")) return;
    if (!text) return problems.push_back({"--rate", 0, "is missing", "say 20 for requests a second, or max"});
    if (*text == "max" || *text == "inf") {
        load.rate = HUGE_VAL;
        return;
    }
    const auto value = parse_real(*text);
    if (!value) problems.push_back({"--rate", 0, "'" + *text + "' is no rate", "say 20 for requests a second, or max"});
    load.rate = value.value_or(1);
}

void take_lengths(const Arguments& arguments, LoadShape& load, Problems& problems) {
    const bool recorded = arguments.has("--arrivals");
    for (const auto& [flag, tokens] : {std::pair{"--isl", &load.isl}, {"--osl", &load.osl}}) {
        const auto value = arguments.count(flag);
        if (recorded == value.has_value()) {
            problems.push_back({flag, 0, recorded ? "is given beside --arrivals" : "is missing",
                                recorded ? "leave it out: the file has the lengths" : "say how many tokens"});
        }
        *tokens = value.value_or(1);
    }
}

void take_list(const Arguments& arguments, const char* flag, std::vector<std::int64_t>& list, Problems& problems) {
    const auto value = arguments.count(flag);
    if (value && *value < 1) problems.push_back({flag, 0, "is " + std::to_string(*value), "use at least 1"});
    if (value) list = {*value};
}

void take_space(const Arguments& arguments, const Question& question, ServeSpace& space, Problems& problems) {
    take_list(arguments, "--tp", space.tp, problems);
    take_list(arguments, "--pp", space.pp, problems);
    take_list(arguments, "--dp", space.dp, problems);
    take_list(arguments, "--ep", space.ep, problems);
    take_list(arguments, "--max-batch", space.max_batch, problems);
    take_list(arguments, "--chunk", space.chunk, problems);
    std::vector<std::int64_t> gpus;
    take_list(arguments, "--gpus", gpus, problems);
    if (!gpus.empty()) space.gpus = gpus.front();
    const std::int64_t nodes = arguments.has("--cluster") && arguments.text("--rate") != "max" ? 8 : 1;
    space.most_gpus = nodes * std::max<std::int64_t>(8, question.device.node_size);
    const std::int64_t keep = arguments.count("--keep").value_or(static_cast<std::int64_t>(space.keep));
    if (keep < 1) problems.push_back({"--keep", 0, "must be at least 1", "say how many plans to show"});
    space.keep = static_cast<std::size_t>(std::max<std::int64_t>(1, keep));
    if (!space.chunk.empty() && !space.max_batch.empty() && space.chunk.front() < space.max_batch.front()) {
        problems.push_back({"--chunk", 0, "is less than --max-batch: every sequence needs a token of a step",
                            "use at least " + std::to_string(space.max_batch.front())});
    }
}

}  // namespace

FlagGroup load_flags() {
    return {"Load (--phase serve)",
            {{"--rate", "N|max", "requests a second of the whole deployment, Poisson; max: all at once", Kind::Text},
             {"--isl", "N", "tokens of a prompt", Kind::Length},
             {"--osl", "N", "tokens of an answer", Kind::Length},
             {"--arrivals", "FILE", "recorded requests: arrival_s,isl,osl[,cached] in CSV", Kind::Text},
             {"--ttft", "TIME", "limit of the time to the first token, such as 500ms", Kind::Text},
             {"--tpot", "TIME", "limit of the time per output token after it, such as 30ms", Kind::Text},
             {"--percentile", "X", "of requests that must be within the limits (95)", Kind::Real},
             {"--max-batch", "N", "sequences of a step of one replica, at most (tried)", Kind::Count},
             {"--chunk", "N", "tokens of a step, at most (tried: 512, 2048, 8192)", Kind::Length},
             {"--prefix-hits", "X", "share of every prompt that the prefix cache holds (0)", Kind::Real},
             {"--draft-tokens", "N", "tokens drafted for each sequence and step (0)", Kind::Count},
             {"--acceptance", "X", "chance that a drafted token is accepted (0.7)", Kind::Real}}};
}

bool serves_load(const Arguments& arguments) { return arguments.text("--phase") == "serve"; }

Problems refuse_flags(const Arguments& arguments, std::span<const char* const> flags, const std::string& when) {
    Problems problems;
    for (const char* flag : flags) {
        if (arguments.has(flag)) problems.push_back({flag, 0, "means nothing " + when, "leave it out"});
    }
    return problems;
}

Problems check_load_flags(const Arguments& arguments) {
    static constexpr const char* not_of_a_load[] = {"--global-batch",
                                                    "--tokens",
                                                    "--zero",
                                                    "--virtual-stages",
                                                    "--micro-batches",
                                                    "--recompute",
                                                    "--master",
                                                    "--overlap",
                                                    "--cp",
                                                    "--sequence-parallel",
                                                    "--batch",
                                                    "--seq",
                                                    "--kv-len",
                                                    "--prompts",
                                                    "--prompt-tokens",
                                                    "--prompt-cached"};
    if (serves_load(arguments)) return refuse_flags(arguments, not_of_a_load, "when a load is served");
    Problems problems;
    for (const Flag& flag : load_flags().flags) {
        if (arguments.has(flag.name)) problems.push_back({flag.name, 0, "is of a load", "say --phase serve"});
    }
    return problems;
}

Result<ServeQuestion> serve_question(const Arguments& arguments, Question question) {
    ServeQuestion asked{std::move(question),
                        {},
                        {},
                        {},
                        {},
                        {},
                        arguments.real("--price"),
                        arguments.text("--cluster").value_or(""),
                        ""};
    const std::string& name = asked.question.shape.name;
    asked.model = arguments.operands[0] + name.substr(std::min(name.size(), name.find(" --")));
    Problems problems;
    take_rate(arguments, asked.load, problems);
    take_lengths(arguments, asked.load, problems);
    take_limit(arguments, "--ttft", asked.limits.ttft, problems);
    take_limit(arguments, "--tpot", asked.limits.tpot, problems);
    take_space(arguments, asked.question, asked.space, problems);
    asked.limits.percentile = arguments.real("--percentile").value_or(95);
    asked.load.prefix_hits = arguments.real("--prefix-hits").value_or(0);
    asked.speculation.drafts = arguments.count("--draft-tokens").value_or(0);
    asked.speculation.acceptance = arguments.real("--acceptance").value_or(0.7);
    if (arguments.has("--percentile") && !asked.limits.ttft && !asked.limits.tpot) {
        problems.push_back({"--percentile", 0, "is of limits, and there are none", "say --ttft or --tpot"});
    }
    if (arguments.has("--acceptance") && asked.speculation.drafts == 0) {
        problems.push_back({"--acceptance", 0, "is of drafts, and there are none", "say --draft-tokens 3"});
    }
    if (asked.hour_price && *asked.hour_price < 0) problems.push_back({"--price", 0, "is negative", "say 2.5"});
    if (const auto path = arguments.text("--arrivals")) {
        if (arguments.has("--rate"))
            problems.push_back({"--rate", 0, "is given beside --arrivals", "give one of them"});
        const Result<std::string> bytes = read_whole(*path, read::max_csv_bytes);
        const Result<std::vector<Request>> load = bytes ? read::read_arrivals(*bytes, *path) : bytes.problems();
        append(problems, load);
        if (load) asked.arrivals = *load;
    }
    if (!problems.empty()) return problems;
    return asked;
}

}  // namespace tilewright::cli
