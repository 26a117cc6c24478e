// Quantities as people read them: three significant digits and the unit that keeps them short.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/quantity.h"

namespace tilewright::render {

std::string time_text(Seconds time);                    ///< "12.3 µs", "412 ms", "1.23 s"
std::string interval_text(Seconds low, Seconds high);   ///< "350–480 ms", in the unit of `high`
std::string bytes_text(Bytes bytes);                    ///< "45.2 GiB", as memory is made
std::string bandwidth_text(BytesPerSecond rate);        ///< "4.80 TB/s"
std::string rate_text(FlopsPerSecond rate);             ///< "989 TFLOP/s"
std::string count_text(double count);                   ///< "2.65 B", "355 M", "12.3 k"
std::string grouped_text(double count);                 ///< "19,900", to the nearest whole
std::string percent_text(double share);                 ///< "38.1%"
std::string signed_text(double value);                  ///< "+0.3", "-0.04", with its sign; nothing is "+0.0"
std::string change_text(double share);                  ///< "+0.3%"
std::string signed_count_text(std::int64_t count);      ///< "+120 k"
std::string speedup_text(double factor);                ///< "1.18×"
std::string speedup_interval(double low, double high);  ///< "1.05–1.30×"
std::string digits3(double value);                      ///< three significant digits, two below 1; never an exponent

/// The unit in which a column of times reads best, and how many seconds it has.
struct TimeUnit {
    const char* name;
    double seconds;
};
TimeUnit time_unit(Seconds longest);

}  // namespace tilewright::render
