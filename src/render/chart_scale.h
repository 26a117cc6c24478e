// From a value to a place on the page: linear, logarithmic or by category; and the round values that get a tick.
#pragma once

#include <string>
#include <vector>

#include "render/chart.h"

namespace tilewright::render {

struct Range {
    double from = 0.0;
    double to = 0.0;
};

struct Tick {
    double at = 0.0;
    std::string label;
};

/// How much room the data ask of an axis.
struct Extent {
    Range values{1.0, 0.0};  ///< from > to: there are none
    bool from_zero = false;  ///< bars grow from zero
    bool round = false;      ///< the ends may move out to round values

    bool empty() const { return values.from > values.to; }
};

class Scale {
public:
    /// `pixels.from` is where the axis starts, also when that is the larger coordinate.
    Scale(const Axis& axis, const Extent& extent, Range pixels);

    /// NaN where the value has no place: not finite, or not positive on a logarithmic axis.
    double at(double value) const;

    const Range& domain() const { return domain_; }
    const Range& pixels() const { return pixels_; }
    const std::vector<Tick>& ticks() const { return ticks_; }
    bool is_log() const { return log_; }

    /// Where bars start: zero, or the low end of the axis.
    double base() const;

private:
    void set_categories(const std::vector<std::string>& names);
    void set_linear(const Axis& axis, bool round);
    void set_log(const Axis& axis);

    bool log_;
    Range domain_;
    Range pixels_;
    std::vector<Tick> ticks_;
};

/// The extent of a chart's values along x or along y.
Extent extent_along_x(const Chart& chart);
Extent extent_along_y(const Chart& chart);

}  // namespace tilewright::render
