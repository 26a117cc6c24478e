// The table of step prices. A step is lowered as decoding with prompts beside it; its kernels fall into parts that
// depend on different sizes, so that each is priced over one or two of them and kept. Parts are added at the top clock;
// what power takes from the clock is settled for the whole step.
#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "tilewright/host.h"
#include "tilewright/serve.h"

namespace tilewright {
namespace serving {

/// What kernels take at the top clock, all launches together.
struct Sum {
    double time = 0, clocked = 0, energy = 0, low = 0, high = 0;
    double exchanging = 0;  ///< of it, sending tokens to experts and back

    void add(const Sum& other, double times = 1.0) {
        time += times * other.time;
        clocked += times * other.clocked;
        energy += times * other.energy;
        low += times * other.low;
        high += times * other.high;
        exchanging += times * other.exchanging;
    }
};

}  // namespace serving

namespace {

using serving::Sum;

/// Tokens rounded up to sizes whose prices are kept: products compute whole tiles anyway.
std::int64_t tabulated(std::int64_t tokens) {
    if (tokens <= 128) return tokens;
    return round_up(tokens, tokens <= 512 ? 4 : tokens <= 2048 ? 16 : tokens <= 4096 ? 32 : 64);
}

/// Lengths between which prices are interpolated: 0, then 64, and four to each doubling.
constexpr double first_length = 64, lengths_to_a_doubling = 4;
constexpr std::size_t places = 100;

const std::array<double, places>& lengths() {
    static const std::array<double, places> all = [] {
        std::array<double, places> made{};
        for (std::size_t i = 1; i < places; ++i) {
            made[i] = std::round(std::exp2(static_cast<double>(i - 1) / lengths_to_a_doubling) * first_length);
        }
        return made;
    }();
    return all;
}

std::int64_t length_at(std::size_t place) { return std::llround(lengths()[place]); }

/// The last of them that is no longer.
std::size_t place_of(double length) {
    const auto above = std::upper_bound(lengths().begin(), lengths().end(), length);
    return std::min(places - 2, static_cast<std::size_t>(above - lengths().begin()) - 1);
}

/// Whether the price depends on what is attended to; writing the cache goes by tokens, and latent keys and values of a
/// prompt are expanded with those in the cache.
bool attends(const Op& op) {
    return (op.component == Component::Attention && op.name != "kv append") || op.name == "kv up";
}
bool in_body(const Op& op) { return op.part != Part::Head && !attends(op); }
bool in_head(const Op& op) { return op.part == Part::Head; }

/// Place in a table: which part, and up to three sizes of it.
enum class Which : std::uint64_t { Body, MixedBody, PromptBody, Head, Decode, Prompts };
std::uint64_t key_of(Which which, std::int64_t first, std::int64_t second = 0, std::size_t place = 0) {
    const auto bits = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    return static_cast<std::uint64_t>(which) | bits(first) << 3 | bits(second) << 30 | std::uint64_t{place} << 56;
}

constexpr std::uint64_t no_key = ~std::uint64_t{0};

}  // namespace

struct StepTable::Parts {
    Shape shape;
    Workload layout;
    Pricer pricer;
    Speculation speculation;
    const Runtime& runtime;
    Evidence evidence = Evidence::Measured;
    std::size_t last_place = 0;  ///< of a length: the next one is hardly longer
    std::unordered_map<std::uint64_t, serving::Sum> known;
    std::array<std::uint64_t, 4> last_key{no_key, no_key, no_key, no_key};  ///< of the step before: decoding repeats
    std::array<Sum, 4> last_sum{};  ///< body, head, attention at the places below and above

    template <class Keep>
    Sum price(const Workload& work, Keep keep) {
        Sum sum;
        const OpGraph graph = lower(shape, work);
        for (const Op& op : graph.ops) {
            if (!keep(op)) continue;
            const Cost cost = pricer.burst(op);
            const double sent = std::holds_alternative<Exchange>(op.work) ? cost.time.value : 0.0;
            sum.add({cost.time.value, cost.clocked.value, cost.energy_j, cost.low.value, cost.high.value, sent},
                    static_cast<double>(op.count));
            evidence = std::max(evidence, cost.evidence);
        }
        return sum;
    }

    Workload decoding(std::int64_t batch, std::int64_t context) const {
        Workload work = layout;
        work.phase = Phase::Decode;
        work.batch = batch;
        work.seq = std::max<std::int64_t>(1, context);
        work.kv_len = 0;
        work.prompts = {};
        work.parallel.pp = 1;
        return work;
    }
    Workload prefilling(std::int64_t prompts, std::int64_t tokens, std::int64_t cached) const {
        Workload work = decoding(prompts, tokens);
        work.phase = Phase::Prefill;
        work.kv_len = cached + work.seq;
        return work;
    }

    template <class Make>
    const Sum& look_up(std::uint64_t key, Make make) {
        const auto found = known.find(key);
        return found != known.end() ? found->second : known.emplace(key, make()).first->second;
    }

    /// What hands activations on between the stages that a step passes.
    Sum sends(std::int64_t tokens) {
        if (layout.parallel.pp == 1) return {};
        const double bytes = static_cast<double>(tokens * shape.hidden * 2);
        Op op;
        op.component = Component::Communication;
        op.work = Collective{CollectiveKind::SendReceive, {bytes}, 2, RankGroup::Pipeline};
        const Cost cost = pricer.burst(op);
        Sum sum;
        sum.add({cost.time.value, cost.clocked.value, cost.energy_j, cost.low.value, cost.high.value},
                static_cast<double>(layout.parallel.pp - 1));
        return sum;
    }

    /// `prompt` of the tokens are of prompts beside those that decode; only latent attention treats them differently.
    const Sum& body(std::int64_t tokens, Which which, std::int64_t prompt = 0) {
        const std::int64_t size = tabulated(tokens);
        const bool apart = which == Which::MixedBody && shape.latent;
        const std::int64_t decodes = apart ? std::min(tabulated(tokens - prompt), size - 1) : size - 1;
        return recent(0, key_of(which, size, decodes), [&] {
            const std::int64_t prompts = layout.overlap == Overlap::All ? 2 : 1;  // two have halves
            Workload work =
                which == Which::PromptBody ? prefilling(prompts, ceil_div(size, prompts), 0) : decoding(size, 1);
            if (which == Which::MixedBody) {
                work.batch = decodes;
                work.prompts = {1, size - decodes, 0};
            }
            Sum sum = price(work, in_body);
            sum.add(sends(size));
            return sum;
        });
    }

    const Sum& head(std::int64_t rows) {
        const std::int64_t size = tabulated(rows);
        return recent(1, key_of(Which::Head, size), [&] { return price(decoding(size, 1), in_head); });
    }

    template <class Make>
    const Sum& recent(std::size_t slot, std::uint64_t key, Make make) {
        if (last_key[slot] != key) {
            last_sum[slot] = look_up(key, make);
            last_key[slot] = key;
        }
        return last_sum[slot];
    }

    /// `price_at` a place below and above a length, interpolated.
    template <class PriceAt>
    void between(double length, PriceAt price_at, Sum& sum) {
        const std::array<double, places>& at = lengths();
        if (length < at[last_place] || length >= at[last_place + 1]) last_place = place_of(length);
        const std::size_t place = last_place;
        const double share = (length - at[place]) / (at[place + 1] - at[place]);
        sum.add(price_at(place, 2), 1.0 - share);
        if (share > 0) sum.add(price_at(place + 1, 3), share);
    }

    void add_decode_attention(std::int64_t sequences, double context, Sum& sum) {
        const std::int64_t size = tabulated(sequences);
        between(
            context,
            [&](std::size_t place, std::size_t slot) -> const Sum& {
                return recent(slot, key_of(Which::Decode, size, 0, place),
                              [&] { return price(decoding(size, length_at(place)), attends); });
            },
            sum);
    }

    void add_prompt_attention(std::int64_t prompts, std::int64_t tokens, double cached, Sum& sum) {
        const bool halved = layout.overlap == Overlap::All && prompts == 1;  // as two half batches share it
        const std::int64_t count = halved ? 2 : tabulated(prompts), each = tabulated(ceil_div(tokens, count));
        between(
            cached,
            [&](std::size_t place, std::size_t) -> const Sum& {
                return look_up(key_of(Which::Prompts, count, each, place),
                               [&] { return price(prefilling(count, each, length_at(place)), attends); });
            },
            sum);
    }

    /// Drafts come from a layer and a head of their own, one token after another.
    void add_drafts(const EngineStep& step, Sum& sum) {
        const double layers = static_cast<double>(shape.layers), drafts = static_cast<double>(speculation.drafts);
        Sum layer = body(step.sequences, Which::Body);
        add_decode_attention(step.sequences, step.context, layer);
        sum.add(layer, drafts / layers);
        sum.add(head(step.sequences), drafts);
    }

    /// What the host adds: the runtime's own, and the engine's.
    double waits(const EngineStep& step) const {
        const bool prompts = step.sequences == 0 || step.prompts > 0;
        const Seconds own = (step.sequences > 0 ? runtime.host.token : runtime.host.prompt) * layout.host_scale;
        if (!runtime.engine) return own.value;
        const Seconds engine = scheduler_wait(*runtime.engine, step.sequences + step.prompts, prompts);
        return (own + engine * layout.host_scale).value;
    }

    Sum sum_of(const EngineStep& step) {
        const std::int64_t queries = step.sequences > 0 ? 1 + speculation.drafts : 0;
        const std::int64_t tokens = step.sequences * queries + step.prompt_tokens;
        const Which which = step.sequences == 0 ? Which::PromptBody : step.prompts > 0 ? Which::MixedBody : Which::Body;
        Sum sum = body(tokens, which, step.prompt_tokens);
        sum.add(head(step.sequences * queries + step.prompts));
        if (queries == 1) add_decode_attention(step.sequences, step.context, sum);
        if (queries > 1) add_prompt_attention(step.sequences, step.sequences * queries, step.context, sum);
        if (step.prompts > 0) add_prompt_attention(step.prompts, step.prompt_tokens, step.prompt_cached, sum);
        if (queries > 1) add_drafts(step, sum);
        return sum;
    }
};

StepTable::StepTable(const Shape& shape, const Workload& layout, const Pricer& pricer, Speculation speculation)
    : parts_(new Parts{shape,
                       layout,
                       pricer,
                       speculation,
                       runtime_of(layout.runtime),
                       Evidence::Measured,
                       0,
                       {},
                       {no_key, no_key, no_key, no_key},
                       {}}) {}
StepTable::StepTable(StepTable&&) noexcept = default;
StepTable::~StepTable() = default;

Evidence StepTable::evidence() const { return parts_->evidence; }
Speculation StepTable::speculation() const { return parts_->speculation; }
std::int64_t StepTable::priced() const { return static_cast<std::int64_t>(parts_->known.size()); }

EngineStepTime StepTable::operator()(const EngineStep& step) {
    const Sum sum = parts_->sum_of(step);
    Cost burst;
    burst.time = {sum.time};
    burst.clocked = {sum.clocked};
    burst.energy_j = sum.energy;
    const double clock = parts_->pricer.settled_clock(burst);
    const double all = sum.time + sum.clocked * (1.0 / clock - 1.0);
    const bool hides = parts_->layout.overlap == Overlap::All;  // two half batches take turns
    const double gpu = hides ? std::max(sum.exchanging, all - sum.exchanging) : all;
    const double waits = parts_->waits(step), slower = sum.time > 0 ? gpu / sum.time : 1.0;
    return {{gpu + waits}, {sum.low * slower + waits}, {sum.high * slower + waits}, sum.energy * clock * clock};
}

Workload workload_of(const EngineStep& step, const Workload& layout) {
    Workload work = layout;
    work.parallel.pp = 1;
    work.kv_len = 0;
    if (step.sequences == 0) {
        work.phase = Phase::Prefill;
        work.batch = step.prompts;
        work.seq = ceil_div(step.prompt_tokens, step.prompts);
        if (step.prompt_cached > 0) work.kv_len = work.seq + std::llround(step.prompt_cached);
        return work;
    }
    work.phase = Phase::Decode;
    work.batch = step.sequences;
    work.seq = std::max<std::int64_t>(1, std::llround(step.context));
    if (step.prompts > 0) work.prompts = {step.prompts, step.prompt_tokens, std::llround(step.prompt_cached)};
    return work;
}

}  // namespace tilewright
