// Every repeat is a batch of launches between two events on each stream of this process; its time is the longest. How
// many launches follows from the bytes alone, so that all processes agree on it without talking.
#include "measure/benches.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <vector>

#ifdef TILEWRIGHT_NCCL
#include <cuda_runtime_api.h>
#include <nccl.h>

#include "measure/ranks.h"

namespace tilewright::measure {
namespace {

constexpr int repeats = 8;
constexpr std::size_t alignment = 4096;  ///< bytes that every number of ranks up to it divides in whole elements

Status checked(cudaError_t error) {
    if (error == cudaSuccess) return Done{};
    return Fault{cudaGetErrorString(error), false, error != cudaErrorMemoryAllocation};
}

Status checked(ncclResult_t result) {
    if (result == ncclSuccess) return Done{};
    return Fault{std::string("NCCL: ") + ncclGetErrorString(result), false, true};
}

/// One GPU of this process and its place among all.
struct Member {
    int device = 0;
    ncclComm_t comm = nullptr;
    cudaStream_t stream = nullptr;
    cudaEvent_t before = nullptr, after = nullptr;
    void* in = nullptr;
    void* out = nullptr;
};

struct Exchange {
    std::string_view kind;
    std::size_t bytes;  ///< of the full tensor
    int ranks;
};

Status enqueue(const Member& at, const Exchange& what) {
    const std::size_t all = what.bytes / 2, part = all / static_cast<std::size_t>(what.ranks);  // elements of two bytes
    if (what.kind == "all_reduce")
        return checked(ncclAllReduce(at.in, at.out, all, ncclBfloat16, ncclSum, at.comm, at.stream));
    if (what.kind == "all_gather") return checked(ncclAllGather(at.in, at.out, part, ncclBfloat16, at.comm, at.stream));
    if (what.kind == "reduce_scatter") {
        return checked(ncclReduceScatter(at.in, at.out, part, ncclBfloat16, ncclSum, at.comm, at.stream));
    }
    int rank = 0;
    TW_TRY(checked(ncclCommUserRank(at.comm, &rank)));
    if (what.kind == "send_receive") {
        const int next = (rank + 1) % what.ranks, last = (rank + what.ranks - 1) % what.ranks;
        TW_TRY(checked(ncclSend(at.in, all, ncclBfloat16, next, at.comm, at.stream)));
        return checked(ncclRecv(at.out, all, ncclBfloat16, last, at.comm, at.stream));
    }
    for (int peer = 0; peer < what.ranks; ++peer) {
        const std::size_t offset = static_cast<std::size_t>(peer) * part * 2;
        TW_TRY(checked(ncclSend(static_cast<char*>(at.in) + offset, part, ncclBfloat16, peer, at.comm, at.stream)));
        TW_TRY(checked(ncclRecv(static_cast<char*>(at.out) + offset, part, ncclBfloat16, peer, at.comm, at.stream)));
    }
    return Done{};
}

class NcclBench final : public Bench {
public:
    NcclBench() = default;
    NcclBench(const NcclBench&) = delete;
    NcclBench& operator=(const NcclBench&) = delete;
    ~NcclBench() override {
        for (Member& member : members_) {
            cudaSetDevice(member.device);
            release(member);
            if (member.comm != nullptr) ncclCommDestroy(member.comm);
            if (member.stream != nullptr) cudaStreamDestroy(member.stream);
        }
    }

    Status join(const std::string& command) {
        const Result<Ranks> found = find_meeting_ranks(environment);
        if (!found) return failed(found.problems().front().where + " " + found.problems().front().what);
        int gpus = 0;
        TW_TRY(checked(cudaGetDeviceCount(&gpus)));
        if (gpus == 0) return failed("no GPU");
        TW_TRY(found->world > 1 ? join_others(*found, gpus) : join_own(gpus));
        for (Member& member : members_) TW_TRY(make_ready(member));
        describe(command);
        return Done{};
    }

    const std::string& device() const override { return name_; }
    bool lost() const override { return lost_; }
    const Run& run() const override { return run_; }
    double now_s() const override {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    Sample measure(const Job& job) override {
        Sample sample = untimed(job, *this);
        for (auto& [name, value] : sample.sizes) {
            if (name == "ranks") value = std::to_string(ranks_);
        }
        if (stride_ > 1) sample.sizes.emplace_back("stride", std::to_string(stride_));
        sample.clock = ClockMode::Quick;
        sample.bytes = static_cast<double>(job.what.integer("bytes"));
        const Outcome<TimeStatistics> timed = time(job.what);
        if (timed) {
            sample.time = *timed;
        } else {
            sample.status = timed.fault().unsupported ? SampleStatus::Unsupported : SampleStatus::Failed;
            sample.reason = timed.fault().reason;
            lost_ = lost_ || timed.fault().fatal;
        }
        return sample;
    }

private:
    Status join_own(int gpus) {
        members_.resize(static_cast<std::size_t>(gpus));
        std::vector<ncclComm_t> comms(members_.size());
        TW_TRY(checked(ncclCommInitAll(comms.data(), gpus, nullptr)));
        for (int i = 0; i < gpus; ++i) {
            members_[static_cast<std::size_t>(i)].device = i;
            members_[static_cast<std::size_t>(i)].comm = comms[static_cast<std::size_t>(i)];
        }
        ranks_ = gpus;
        return Done{};
    }

    /// NCCL_COMM_ID names the place where the first rank waits, so that no other library has to pass the id around.
    Status join_others(const Ranks& ranks, int gpus) {
        members_.resize(1);
        Member& own = members_.front();
        own.device = ranks.local % gpus;
        ranks_ = ranks.world;
        const bool spread = ranks.on_node > 0 && ranks.on_node < ranks.world;
        stride_ = spread ? std::max(1, gpus / ranks.on_node) : 1;
        TW_TRY(checked(cudaSetDevice(own.device)));
        setenv("NCCL_COMM_ID", ranks.meeting.c_str(), 0);
        ncclUniqueId id;
        TW_TRY(checked(ncclGetUniqueId(&id)));
        return checked(ncclCommInitRank(&own.comm, ranks.world, id, ranks.rank));
    }

    static Status make_ready(Member& member) {
        TW_TRY(checked(cudaSetDevice(member.device)));
        TW_TRY(checked(cudaStreamCreateWithFlags(&member.stream, cudaStreamNonBlocking)));
        TW_TRY(checked(cudaEventCreate(&member.before)));
        return checked(cudaEventCreate(&member.after));
    }

    static void release(Member& member) {
        cudaFree(member.in);
        cudaFree(member.out);
        member.in = member.out = nullptr;
    }

    Status allocate(std::size_t bytes) {
        for (Member& member : members_) {
            TW_TRY(checked(cudaSetDevice(member.device)));
            release(member);
            TW_TRY(checked(cudaMalloc(&member.in, bytes)));
            TW_TRY(checked(cudaMalloc(&member.out, bytes)));
            TW_TRY(checked(cudaMemset(member.in, 0, bytes)));
        }
        return Done{};
    }

    Status launch(const Exchange& what, int times) {
        for (int i = 0; i < times; ++i) {
            TW_TRY(checked(ncclGroupStart()));
            for (const Member& member : members_) TW_TRY(enqueue(member, what));
            TW_TRY(checked(ncclGroupEnd()));
        }
        return Done{};
    }

    Outcome<double> repeat(const Exchange& what, int times) {
        for (const Member& member : members_) TW_TRY(checked(cudaEventRecord(member.before, member.stream)));
        TW_TRY(launch(what, times));
        for (const Member& member : members_) TW_TRY(checked(cudaEventRecord(member.after, member.stream)));
        double longest = 0.0;
        for (const Member& member : members_) {
            float milliseconds = 0.0F;
            TW_TRY(checked(cudaEventSynchronize(member.after)));
            TW_TRY(checked(cudaEventElapsedTime(&milliseconds, member.before, member.after)));
            longest = std::max(longest, static_cast<double>(milliseconds));
        }
        return longest * 1e3 / times;
    }

    Outcome<TimeStatistics> time(const Case& what) {
        const std::int64_t asked = what.integer("ranks");
        if (asked != 0 && asked != ranks_) return unsupported("there are " + std::to_string(ranks_) + " ranks");
        const auto bytes = static_cast<std::size_t>(what.integer("bytes"));
        if (bytes % (2 * static_cast<std::size_t>(ranks_)) != 0)
            return unsupported("bytes do not divide among the ranks");
        const Exchange exchange{what.word("kind"), bytes, ranks_};
        const int times =
            static_cast<int>(std::clamp<std::size_t>((std::size_t{1} << 28) / (bytes + alignment), 5, 200));
        TW_TRY(allocate(std::max(bytes, alignment)));
        TW_TRY(launch(exchange, times));
        std::vector<double> seen;
        for (int i = 0; i < repeats; ++i) {
            const Outcome<double> one = repeat(exchange, times);
            if (!one) return one.fault();
            seen.push_back(*one);
        }
        TimeStatistics statistics = summarize(seen);
        statistics.launches = times;
        return statistics;
    }

    void describe(const std::string& command) {
        cudaDeviceProp properties{};
        cudaGetDeviceProperties(&properties, members_.front().device);
        name_ = properties.name;
        int version = 0;
        ncclGetVersion(&version);
        run_.id = std::to_string(std::time(nullptr)) + "-" + std::to_string(::getpid());
        run_.facts = {{"device", name_},
                      {"nccl", std::to_string(version)},
                      {"ranks", std::to_string(ranks_)},
                      {"processes", members_.size() > 1 || ranks_ == 1 ? "1" : std::to_string(ranks_)},
                      {"command", command}};
    }

    std::vector<Member> members_;
    int ranks_ = 1;
    int stride_ = 1;  ///< GPUs from one rank to the next, where a node has more than the job uses of it
    bool lost_ = false;
    std::string name_;
    Run run_;
};

}  // namespace

Outcome<std::unique_ptr<Bench>> open_collective_bench(const std::string& command) {
    auto bench = std::make_unique<NcclBench>();
    TW_TRY(bench->join(command));
    return std::unique_ptr<Bench>(std::move(bench));
}

}  // namespace tilewright::measure
#else

namespace tilewright::measure {

Outcome<std::unique_ptr<Bench>> open_collective_bench(const std::string&) {
    return failed("built without NCCL: install it beside the CUDA toolkit and configure again");
}

}  // namespace tilewright::measure
#endif
