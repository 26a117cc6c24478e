#include "fit/solve.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

namespace tilewright {
namespace {

constexpr double huber = 0.05;  ///< log error from which a point pulls no harder
constexpr double step = 1e-3;   ///< of a numeric derivative
constexpr int rounds = 40;
constexpr double reach = 20.0;  ///< factor within which a parameter stays of its start

using Vector = Eigen::VectorXd;

/// Residuals whose squares sum to the Huber loss.
Vector pulled(const std::vector<double>& residuals) {
    Vector result(static_cast<Eigen::Index>(residuals.size()));
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        const double size = std::abs(residuals[i]);
        const double capped = size < huber ? size : std::sqrt(2.0 * huber * size - huber * huber);
        result[static_cast<Eigen::Index>(i)] = residuals[i] < 0.0 ? -capped : capped;
    }
    return result;
}

Eigen::MatrixXd jacobian(const std::vector<Parameter>& parameters, const Residuals& residuals, const Vector& at) {
    Eigen::MatrixXd result(at.size(), static_cast<Eigen::Index>(parameters.size()));
    for (std::size_t j = 0; j < parameters.size(); ++j) {
        const double kept = *parameters[j].value;
        *parameters[j].value = kept * (1.0 + step);
        result.col(static_cast<Eigen::Index>(j)) = (pulled(residuals()) - at) / step;
        *parameters[j].value = kept;
    }
    return result;
}

}  // namespace

void solve(const std::vector<Parameter>& parameters, const Residuals& residuals) {
    std::vector<double> start, kept;
    for (const Parameter& parameter : parameters) start.push_back(*parameter.value);
    Vector now = pulled(residuals());
    double damping = 1e-2;
    for (int round = 0; round < rounds; ++round) {
        const Eigen::MatrixXd slopes = jacobian(parameters, residuals, now);
        const Eigen::MatrixXd normal = slopes.transpose() * slopes;
        const Vector gradient = slopes.transpose() * now;
        const double before = now.squaredNorm();
        bool better = false;
        for (int attempt = 0; attempt < 6 && !better; ++attempt) {
            Eigen::MatrixXd damped = normal;
            damped.diagonal() +=
                damping * (normal.diagonal().array() + 1e-5 * static_cast<double>(now.size())).matrix();
            const Vector move = -damped.ldlt().solve(gradient);
            kept.clear();
            for (std::size_t j = 0; j < parameters.size(); ++j) {
                kept.push_back(*parameters[j].value);
                const double factor = std::exp(std::clamp(move[static_cast<Eigen::Index>(j)], -0.5, 0.5));
                const double most = std::min(parameters[j].most, start[j] * reach);
                *parameters[j].value = std::clamp(*parameters[j].value * factor, start[j] / reach, most);
            }
            const Vector next = pulled(residuals());
            better = next.squaredNorm() < before;
            damping = better ? damping / 3.0 : damping * 4.0;
            if (better) now = next;
            for (std::size_t j = 0; j < parameters.size() && !better; ++j) *parameters[j].value = kept[j];
        }
        if (!better || before - now.squaredNorm() < 1e-4 * before) return;
    }
}

}  // namespace tilewright
