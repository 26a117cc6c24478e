// The gemm family: one cuBLASLt product on rotated operands, and its check against sums in double precision.
#include <algorithm>

#include "measure/matmul.h"
#include "measure/reference.h"
#include "measure/runnable.h"

namespace tilewright::measure {
namespace {

using reference::Vector;

int result_bytes(Precision precision) { return precision == Precision::Fp8 ? 2 : element_bytes(precision); }

class GemmOp final : public Runnable {
public:
    explicit GemmOp(const Gemm& gemm) : gemm_(gemm) {}

    Status set_up(Arena& arena) {
        Outcome<std::unique_ptr<Matmul>> made = Matmul::make(gemm_, matmul_workspace_bytes);
        if (!made) return made.fault();
        matmul_ = std::move(*made);
        const Outcome<void*> workspace = arena.scratch(matmul_->workspace_bytes());
        if (!workspace) return workspace.fault();
        workspace_ = *workspace;
        return take_operands(arena);
    }

    Status launch(cudaStream_t stream, int copy) override {
        return matmul_->launch(sets_[static_cast<std::size_t>(copy)], workspace_, stream);
    }

    int copies() const override { return static_cast<int>(sets_.size()); }
    Fields facts() const override { return matmul_->facts(); }
    double flops() const override { return 2.0 * count(gemm_.m, gemm_.n) * static_cast<double>(gemm_.k); }
    double bytes() const override {
        return element_bytes(gemm_.precision) * (count(gemm_.m, gemm_.k) + count(gemm_.k, gemm_.n)) +
               result_bytes(gemm_.precision) * count(gemm_.m, gemm_.n);
    }

    Outcome<double> check(unsigned seed) override {
        const MatmulOperands& set = sets_[0];
        const auto [size_a, size_b, size_c] = sizes();
        const Precision result = gemm_.precision == Precision::Fp8 ? Precision::Bf16 : gemm_.precision;
        TW_TRY(fill_random(const_cast<void*>(set.a), size_a, gemm_.precision, 2 * seed + 1));
        TW_TRY(fill_random(const_cast<void*>(set.b), size_b, gemm_.precision, 2 * seed + 2));
        TW_TRY(poison(set.c, size_c * static_cast<std::size_t>(result_bytes(gemm_.precision))));
        TW_TRY(launch(nullptr, 0));
        TW_TRY(measure::check(cudaDeviceSynchronize(), "gemm"));
        const auto a = reference::download(set.a, static_cast<std::int64_t>(size_a), gemm_.precision);
        const auto b = reference::download(set.b, static_cast<std::int64_t>(size_b), gemm_.precision);
        const auto c = reference::download(set.c, static_cast<std::int64_t>(size_c), result);
        for (const auto* fetched : {&a, &b, &c}) TW_TRY(*fetched);
        Gemm one = gemm_;
        one.batch = 1;
        double worst = 0.0;
        for (std::int64_t item = 0; item < gemm_.batch; ++item) {
            const auto part = [&](const Vector& all, std::int64_t rows, std::int64_t columns) {
                const auto first = all.begin() + item * rows * columns;
                return Vector(first, first + rows * columns);
            };
            const Vector expected = reference::matmul(one, part(*a, gemm_.m, gemm_.k), part(*b, gemm_.k, gemm_.n));
            worst = std::max(worst, reference::relative_error(part(*c, gemm_.m, gemm_.n), expected));
        }
        return worst;
    }

private:
    struct Sizes {
        std::size_t a, b, c;
    };

    double count(std::int64_t rows, std::int64_t columns) const {
        return static_cast<double>(gemm_.batch) * static_cast<double>(rows) * static_cast<double>(columns);
    }

    Sizes sizes() const {
        const auto product = [&](std::int64_t x, std::int64_t y) {
            return static_cast<std::size_t>(gemm_.batch * x * y);
        };
        return {product(gemm_.m, gemm_.k), product(gemm_.k, gemm_.n), product(gemm_.m, gemm_.n)};
    }

    Status take_operands(Arena& arena) {
        const auto result = static_cast<std::size_t>(result_bytes(gemm_.precision));
        if (bytes() > 1e12) return unsupported("its operands need more memory than any device has");
        const auto [size_a, size_b, size_c] = sizes();
        const auto set_bytes = static_cast<std::size_t>(bytes());
        if (set_bytes + 1024 > arena.left())
            return unsupported("its operands need more than the memory taken for them");
        const int copies = arena.copies_for(set_bytes + 1024);
        for (int copy = 0; copy < copies; ++copy) {
            const auto a = arena.input(size_a, gemm_.precision);
            if (!a) return a.fault();
            const auto b = arena.input(size_b, gemm_.precision);
            if (!b) return b.fault();
            const auto c = arena.scratch(size_c * result);
            if (!c) return c.fault();
            sets_.push_back({*a, *b, *c});
        }
        return Done{};
    }

    Gemm gemm_;
    std::unique_ptr<Matmul> matmul_;
    void* workspace_ = nullptr;
    std::vector<MatmulOperands> sets_;
};

}  // namespace

Outcome<std::unique_ptr<Runnable>> make_gemm(const Case& what, Arena& arena) {
    const Outcome<Gemm> gemm = work_of<Gemm>(what);
    if (!gemm) return gemm.fault();
    if (gemm->precision == Precision::Fp8 && gemm->layout != Layout::TN) {
        return unsupported("the library takes fp8 operands in TN only");
    }
    auto op = std::make_unique<GemmOp>(*gemm);
    TW_TRY(op->set_up(arena));
    return std::unique_ptr<Runnable>(std::move(op));
}

Fields gemm_versions() {
    const std::size_t version = cublasLtGetVersion();
    return {{"cublaslt", std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
                             std::to_string(version % 100)}};
}

}  // namespace tilewright::measure
