// The words for the enumerations of cost.h; names.h says how they are looked up.
#pragma once

#include <array>

#include "tilewright/cost.h"
#include "tilewright/names.h"

namespace tilewright {

template <>
inline constexpr std::array<NameTable<Term>, term_count> names<Term>{{{"roofline", Term::Roofline},
                                                                      {"alignment", Term::Alignment},
                                                                      {"tile", Term::Tile},
                                                                      {"wave", Term::Wave},
                                                                      {"memory", Term::Memory},
                                                                      {"occupancy", Term::Occupancy},
                                                                      {"power", Term::Power},
                                                                      {"launch", Term::Launch},
                                                                      {"correction", Term::Correction}}};
template <>
inline constexpr std::array<NameTable<Bound>, 4> names<Bound>{
    {{"compute", Bound::Compute}, {"memory", Bound::Memory}, {"latency", Bound::Latency}, {"network", Bound::Network}}};

}  // namespace tilewright
