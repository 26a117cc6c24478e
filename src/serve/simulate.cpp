// The walk of an engine over a load. All sequences that decode gain a token in every step, so that a group keeps only
// how many there are, the sum of their contexts, and when each will be done; a step costs a look at the table and a
// request two moves in a heap, however long its answer.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>
#include <queue>

#include "tilewright/serve.h"

namespace tilewright {
namespace {

/// Sums over steps.
struct Totals {
    std::int64_t steps = 0, peak_batch = 0;
    double time = 0, low = 0, high = 0, energy = 0;
    double decoding = 0, sequences = 0, contexts = 0;  ///< steps that decode, their sequences and contexts
    double chunks = 0, chunk_sequences = 0, chunk_contexts = 0, prompts = 0, prompt_tokens = 0, prompt_cached = 0;

    void take(const EngineStep& step, const EngineStepTime& cost) {
        const auto batch = static_cast<double>(step.sequences);
        ++steps;
        peak_batch = std::max(peak_batch, step.sequences + step.prompts);
        time += cost.time.value;
        low += cost.low.value;
        high += cost.high.value;
        energy += cost.energy_j;
        if (step.sequences > 0) {
            decoding += 1;
            sequences += batch;
            contexts += batch * step.context;
        }
        if (step.prompts == 0) return;
        chunks += 1;
        chunk_sequences += batch;
        chunk_contexts += batch * step.context;
        prompts += static_cast<double>(step.prompts);
        prompt_tokens += static_cast<double>(step.prompt_tokens);
        prompt_cached += step.prompt_cached * static_cast<double>(step.prompts);
    }

    EngineStep decode_step() const {
        EngineStep step;
        if (decoding == 0) return step;
        step.sequences = std::max<std::int64_t>(1, std::llround(sequences / decoding));
        step.context = contexts / sequences;
        return step;
    }
    EngineStep chunk_step() const {
        EngineStep step;
        if (chunks == 0) return step;
        step.sequences = std::llround(chunk_sequences / chunks);
        step.context = chunk_sequences > 0 ? chunk_contexts / chunk_sequences : 0;
        step.prompts = std::max<std::int64_t>(1, std::llround(prompts / chunks));
        step.prompt_tokens = std::max(step.prompts, static_cast<std::int64_t>(std::llround(prompt_tokens / chunks)));
        step.prompt_cached = prompt_cached / prompts;
        return step;
    }
};

/// One group of requests that step together.
class Group {
public:
    Group(std::span<const Request> load, const Deployment& deployment, StepTable& table, double tokens_per_step)
        : load_(load),
          deployment_(deployment),
          table_(table),
          gain_(tokens_per_step),
          room_(deployment.cache.bytes.value) {}

    double now = 0;

    void take(std::size_t id) {
        now = idle() ? std::max(now, load_[id].arrival.value) : now;
        waiting_.push_back(id);
    }
    bool idle() const { return waiting_.empty() && in_flight() == 0; }
    std::size_t requests() const { return waiting_.size() + static_cast<std::size_t>(in_flight()); }

    void step(std::vector<TokenTimes>& times, Totals& totals) {
        admit_ready(times);
        EngineStep step = decoding();
        pieces_.clear();
        fill(step);
        assert(step.sequences + step.prompts > 0);
        const EngineStepTime cost = table_(step);
        totals.take(step, cost);
        now += cost.time.value;
        advance(times);
        for (const Piece& piece : pieces_) finish_piece(piece, times);
    }

private:
    /// A request whose prompt is not computed to the end.
    struct Prompt {
        std::size_t id;
        std::int64_t done;
    };
    struct Piece {
        std::size_t id;
        std::int64_t tokens;
    };
    struct Ending {
        double at;  ///< in steps that decode
        std::size_t id;
        bool operator>(const Ending& other) const { return at != other.at ? at > other.at : id > other.id; }
    };

    std::int64_t in_flight() const { return sequences_ + static_cast<std::int64_t>(prompts_.size()); }
    double bytes_of(std::size_t id) const { return deployment_.cache.of(load_[id].isl + load_[id].osl).value; }

    bool is_ready(std::size_t id) const { return load_[id].cached >= load_[id].isl; }
    bool has_room(std::size_t id) const { return in_flight() < deployment_.limits.max_batch && bytes_of(id) <= room_; }
    /// Whether what is left of a step's tokens will do: for all of a prompt that is not split.
    bool starts_now(const Request& request, std::int64_t left) const {
        const BatchLimits& limits = deployment_.limits;
        return !limits.whole || std::min(request.isl - request.cached, limits.chunk) <= left;
    }
    std::size_t admit() {
        const std::size_t id = waiting_.front();
        waiting_.pop_front();
        room_ -= bytes_of(id);
        return id;
    }

    /// Those whose prompt was computed elsewhere decode at once.
    void admit_ready(std::vector<TokenTimes>& times) {
        while (!waiting_.empty() && is_ready(waiting_.front()) && has_room(waiting_.front())) {
            const std::size_t id = admit();
            times[id].first = load_[id].arrival.value;
            begin(id);
        }
    }

    void begin(std::size_t id) {
        const Request& request = load_[id];
        ++sequences_;
        contexts_ += static_cast<double>(request.isl + 1);
        endings_.push({decoded_ + std::ceil(static_cast<double>(request.osl - 1) / gain_), id});
    }

    EngineStep decoding() const {
        EngineStep step;
        step.sequences = sequences_;
        step.context = sequences_ > 0 ? contexts_ / static_cast<double>(sequences_) : 0;
        return step;
    }

    /// Tokens of prompts, first come first served, into what the batch leaves of a step.
    void fill(EngineStep& step) {
        std::int64_t left = std::max<std::int64_t>(sequences_ > 0 ? 0 : 1, deployment_.limits.chunk - sequences_);
        double cached = 0;
        const auto compute = [&](Prompt& prompt) {
            const std::int64_t tokens = std::min(left, load_[prompt.id].isl - prompt.done);
            cached += static_cast<double>(prompt.done);
            prompt.done += tokens;
            left -= tokens;
            ++step.prompts;
            step.prompt_tokens += tokens;
            pieces_.push_back({prompt.id, tokens});
        };
        for (Prompt& prompt : prompts_) {
            if (left > 0) compute(prompt);
        }
        while (left > 0 && !waiting_.empty() && !is_ready(waiting_.front()) && has_room(waiting_.front()) &&
               starts_now(load_[waiting_.front()], left)) {
            const std::size_t id = admit();
            prompts_.push_back({id, load_[id].cached});
            compute(prompts_.back());
        }
        if (step.prompts > 0) step.prompt_cached = cached / static_cast<double>(step.prompts);
    }

    /// Every sequence that decoded has gained its tokens; those that are done leave.
    void advance(std::vector<TokenTimes>& times) {
        if (sequences_ == 0) return;
        decoded_ += 1;
        contexts_ += gain_ * static_cast<double>(sequences_);
        while (!endings_.empty() && endings_.top().at <= decoded_) {
            const std::size_t id = endings_.top().id;
            endings_.pop();
            times[id].last = now;
            --sequences_;
            // its context ends at the first whole step past its last token
            const double steps = std::ceil(static_cast<double>(load_[id].osl - 1) / gain_);
            contexts_ -= static_cast<double>(load_[id].isl + 1) + gain_ * steps;
            room_ += bytes_of(id);
        }
        if (sequences_ == 0) contexts_ = 0;
    }

    /// A prompt that is computed to its end has given the first token.
    void finish_piece(const Piece& piece, std::vector<TokenTimes>& times) {
        const Prompt& prompt = prompts_.front();
        if (prompt.id != piece.id || prompt.done < load_[piece.id].isl) return;
        prompts_.pop_front();
        const Request& request = load_[piece.id];
        times[piece.id] = {now, now};
        if (request.osl == 1) {
            room_ += bytes_of(piece.id);
            return;
        }
        begin(piece.id);
    }

    std::span<const Request> load_;
    const Deployment& deployment_;
    StepTable& table_;
    double gain_;  ///< tokens that a sequence gains in a step
    double room_;  ///< bytes of the cache that nobody holds
    std::deque<std::size_t> waiting_;
    std::deque<Prompt> prompts_;
    std::vector<Piece> pieces_;
    std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
    std::int64_t sequences_ = 0;
    double contexts_ = 0;  ///< tokens that these attend to, together
    double decoded_ = 0;
};

/// The value below which `percent` of them lie, the nearest that there is.
double percentile(const std::vector<double>& sorted, double percent) {
    if (sorted.empty()) return 0;
    const auto rank = static_cast<std::size_t>(std::ceil(percent / 100.0 * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

Quantiles quantiles(std::vector<double> values, double asked) {
    std::sort(values.begin(), values.end());
    double sum = 0;
    for (const double value : values) sum += value;
    return {percentile(values, 50), percentile(values, 95), percentile(values, 99),
            values.empty() ? 0 : sum / static_cast<double>(values.size()), percentile(values, asked)};
}

Served summary(std::span<const Request> load, std::vector<TokenTimes> times, const Totals& totals, double asked) {
    Served served;
    std::vector<double> first, each;
    double end = 0, flight = 0;
    for (std::size_t i = 0; i < load.size(); ++i) {
        const Request& request = load[i];
        first.push_back(times[i].first - request.arrival.value);
        if (request.osl > 1) each.push_back((times[i].last - times[i].first) / static_cast<double>(request.osl - 1));
        served.input_tokens += request.isl;
        served.output_tokens += request.osl;
        flight += times[i].last - request.arrival.value;
        end = std::max(end, times[i].last);
    }
    served.requests = static_cast<std::int64_t>(load.size());
    served.ttft_s = quantiles(std::move(first), asked);
    served.tpot_s = quantiles(std::move(each), asked);
    served.makespan = {load.empty() ? 0 : end - load.front().arrival.value};
    if (served.makespan.value > 0) {
        served.output_tok_s = static_cast<double>(served.output_tokens) / served.makespan.value;
        served.input_tok_s = static_cast<double>(served.input_tokens) / served.makespan.value;
        served.in_flight = flight / served.makespan.value;
    }
    served.steps = totals.steps;
    served.peak_batch = totals.peak_batch;
    if (totals.time > 0) {
        served.low = totals.low / totals.time;
        served.high = totals.high / totals.time;
    }
    served.busy = {totals.time};
    served.energy_j = totals.energy;
    served.decode_step = totals.decode_step();
    served.chunk_step = totals.chunk_step();
    served.times = std::move(times);
    return served;
}

}  // namespace

namespace {

std::vector<TokenTimes> walk(std::span<const Request> load, const Deployment& deployment, StepTable& table,
                             Totals& totals) {
    std::vector<Group> groups(static_cast<std::size_t>(deployment.groups),
                              Group(load, deployment, table, table.speculation().tokens_per_step()));
    std::vector<TokenTimes> times(load.size());
    for (std::size_t i = 0; i < load.size(); ++i) {
        Group* least = nullptr;
        for (Group& group : groups) {
            while (!group.idle() && group.now < load[i].arrival.value) group.step(times, totals);
            if (least == nullptr || group.requests() < least->requests()) least = &group;
        }
        least->take(i);
    }
    for (Group& group : groups) {
        while (!group.idle()) group.step(times, totals);
    }
    return times;
}

/// A request as those see it that only decode.
struct Handed {
    Request request;
    std::size_t id;
};

std::vector<Handed> handed_over(std::span<const Request> load, const std::vector<TokenTimes>& first,
                                const SplitDeployment& deployment) {
    std::vector<Handed> handed;
    for (std::size_t i = 0; i < load.size(); ++i) {
        if (load[i].osl == 1) continue;
        Request request = load[i];
        request.cached = request.isl;
        request.arrival = Seconds{first[i].last} + deployment.prefill.cache.of(request.isl) / deployment.link;
        handed.push_back({request, i});
    }
    std::stable_sort(handed.begin(), handed.end(),
                     [](const Handed& a, const Handed& b) { return a.request.arrival < b.request.arrival; });
    return handed;
}

}  // namespace

Served simulate(std::span<const Request> load, const Deployment& deployment, StepTable& table) {
    Totals totals;
    std::vector<TokenTimes> times = walk(load, deployment, table, totals);
    return summary(load, std::move(times), totals, deployment.percentile);
}

Served simulate(std::span<const Request> load, const SplitDeployment& deployment, StepTable& prefill,
                StepTable& decode) {
    Totals totals;
    std::vector<Request> prompts(load.begin(), load.end());
    for (Request& request : prompts) request.osl = 1;
    std::vector<TokenTimes> times = walk(prompts, deployment.prefill, prefill, totals);
    const std::vector<Handed> handed = handed_over(load, times, deployment);
    std::vector<Request> answers;
    for (const Handed& one : handed) answers.push_back(one.request);
    const std::vector<TokenTimes> ends = walk(answers, deployment.decode, decode, totals);
    for (std::size_t i = 0; i < handed.size(); ++i) times[handed[i].id].last = ends[i].last;
    return summary(load, std::move(times), totals, deployment.decode.percentile);
}

}  // namespace tilewright
