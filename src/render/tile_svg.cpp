// The picture of one product: C cut into tiles, and the thread blocks that compute them filling the chip wave by wave.
// Blocks are numbered row by row; libraries walk C in other orders, but the count in each wave is the same.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "render/report.h"
#include "render/svg.h"
#include "render/units.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

constexpr std::int64_t waves_shown = 12;  ///< more are cut out of the middle

std::string rect(std::string_view kind, const Box& box) {
    return fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", kind, px(box.left),
                       px(box.top), px(box.width()), px(box.height()));
}

/// Lines between `count` equal cells, where they are wide enough to be seen.
std::string separators(const Box& box, std::int64_t count, bool vertical) {
    const double length = vertical ? box.width() : box.height();
    if (length / static_cast<double>(count) < 1.9) return "";
    std::string d;
    for (std::int64_t i = 1; i < count; ++i) {
        const double at = length * static_cast<double>(i) / static_cast<double>(count);
        d += vertical ? "M" + px({box.left + at, box.top}) + "V" + px(box.bottom)
                      : "M" + px({box.left, box.top + at}) + "H" + px(box.right);
    }
    return fmt::format("<path class=\"gap\" d=\"{}\"/>\n", d);
}

/// C as the tiles cover it: those of the last wave apart, what lies outside C pale.
std::string matrix(const TileMap& map, const Box& room) {
    const double rows = static_cast<double>(map.tiles_m * map.cost.tile_m);
    const double columns = static_cast<double>(map.tiles_n * map.cost.tile_n);
    const double ratio = std::clamp(columns / rows, 0.33, 3.0);
    const double scale = std::min(room.width() / ratio, room.height());
    const Box box{room.left, room.top, room.left + scale * ratio, room.top + scale};
    std::string out = rect("f5", box);
    if (map.tail > 0 && map.gemm.batch == 1 && map.cost.split_k == 1) {
        const double cell_x = box.width() / static_cast<double>(map.tiles_n);
        const double cell_y = box.height() / static_cast<double>(map.tiles_m);
        const std::int64_t first = map.blocks - map.tail;
        const double row = static_cast<double>(first / map.tiles_n);
        const double column = static_cast<double>(first % map.tiles_n);
        if (column > 0) {
            out += rect("f4",
                        {box.left + column * cell_x, box.top + row * cell_y, box.right, box.top + (row + 1) * cell_y});
        }
        const double whole = column > 0 ? row + 1 : row;
        if (whole < static_cast<double>(map.tiles_m))
            out += rect("f4", {box.left, box.top + whole * cell_y, box.right, box.bottom});
    }
    const double right = box.left + box.width() * static_cast<double>(map.gemm.n) / columns;
    const double bottom = box.top + box.height() * static_cast<double>(map.gemm.m) / rows;
    if (right < box.right) out += rect("outside", {right, box.top, box.right, box.bottom});
    if (bottom < box.bottom) out += rect("outside", {box.left, bottom, right, box.bottom});
    out += separators(box, map.tiles_n, true) + separators(box, map.tiles_m, false);
    return out + text_element({{box.left, box.bottom + 16},
                               fmt::format("C: {}×{}, in {}×{} tiles of {}×{}", map.gemm.m, map.gemm.n, map.tiles_m,
                                           map.tiles_n, map.cost.tile_m, map.cost.tile_n),
                               "tick"});
}

/// What the three shades mean, in a row.
std::string legend(double left, double y) {
    struct Shade {
        std::string_view kind;
        std::string_view words;
    };
    std::string out;
    for (const Shade& shade :
         {Shade{"f5", "full waves"}, Shade{"f4", "last wave"}, Shade{"outside", "idle, or outside C"}}) {
        out += rect(shade.kind, {left, y - 10, left + 14, y + 1});
        out += text_element({{left + 20, y}, std::string(shade.words)});
        left += 34 + text_width(shade.words);
    }
    return out;
}

std::int64_t wave_count(const TileMap& map) { return map.full_waves + (map.tail > 0 ? 1 : 0); }

double row_height(const TileMap& map) {
    return std::clamp(200.0 / static_cast<double>(std::min(wave_count(map), waves_shown)), 15.0, 26.0);
}

/// One bar per wave, as wide as the chip; the last one is filled as far as its blocks reach.
std::string waves(const TileMap& map, const Box& room) {
    const std::int64_t count = wave_count(map);
    const double height = row_height(map);
    const double label = 62.0;
    std::string out;
    std::string words_between;
    double y = room.top;
    for (std::int64_t wave = 1; wave <= count; ++wave) {
        const bool cut = count > waves_shown && wave > waves_shown / 2 && wave <= count - waves_shown / 2 + 1;
        if (cut && wave != waves_shown / 2 + 1) continue;
        if (cut) {
            const std::int64_t hidden = count - waves_shown + 1;
            words_between =
                text_element({{room.left + label, y + 11}, fmt::format("… {} more full waves …", hidden), "tick"});
            y += height;
            continue;
        }
        const bool last = map.tail > 0 && wave == count;
        const double share = last ? static_cast<double>(map.tail) / static_cast<double>(map.at_once) : 1.0;
        const Box row{room.left + label, y, room.right, y + height - 3};
        out += text_element({{row.left - 6, y + 0.5 * height + 3}, fmt::format("wave {}", wave), "tick", "end"});
        out += rect("outside", row);
        out += rect(last ? "f4" : "f5", {row.left, row.top, row.left + share * row.width(), row.bottom});
        y += height;
    }
    const std::string words = map.tail > 0 ? fmt::format("tail: {} of {} places taken", map.tail, map.at_once)
                                           : fmt::format("every wave takes all {} places", map.at_once);
    out += separators({room.left + label, room.top, room.right, y}, map.at_once, true) + words_between;
    return out + text_element({{room.left + label, y + 12}, words, map.tail > 0 ? "label" : "tick"});
}

double waves_height(const TileMap& map) {
    return row_height(map) * static_cast<double>(std::min(wave_count(map), waves_shown)) + 22.0;
}

}  // namespace

std::string tile_caption(const TileMap& map) {
    const std::string batch = map.gemm.batch > 1 ? fmt::format("{} products of ", map.gemm.batch) : "";
    const std::string split = map.cost.split_k > 1 ? fmt::format(", k split by {}", map.cost.split_k) : "";
    const double used = map.cost.waves / std::ceil(map.cost.waves);
    return fmt::format(
        "Of all matrix products, {} loses most to tiles and waves: {}{} {}×{}×{}{} makes {} thread blocks, of which "
        "the chip holds {} at once, {:.2f} waves. "
        "{} of the tiles' area lies outside C; {} of the places in its waves are used.",
        map.kernel, batch, name_of(map.gemm.layout), map.gemm.m, map.gemm.n, map.gemm.k, split,
        grouped_text(static_cast<double>(map.blocks)), map.at_once, map.cost.waves, percent_text(map.padding),
        percent_text(used));
}

std::string tile_svg(const TileMap& map, double width) {
    const bool side_by_side = width > 500;
    const double edge = 8.0;
    const double top = 62.0;
    const double matrix_height = side_by_side ? std::max(210.0, waves_height(map) - 20) : 170.0;
    const double middle = side_by_side ? 0.42 * width : width - edge;
    const double waves_top = side_by_side ? top : top + matrix_height + 34;
    const double height = std::max(waves_top + waves_height(map), top + matrix_height + 22) + edge;
    const std::string title = fmt::format("Tiles and waves of {}", map.kernel);
    std::string out = open_svg(title, tile_caption(map), {0, 0, width, height});
    out += text_element({{edge, 26}, title, "title"}) + legend(edge, 46);
    out += matrix(map, {edge, top, middle - 2 * edge, top + matrix_height});
    out += waves(map, {side_by_side ? middle : 0.0, waves_top, width - edge, height});
    return out + "</svg>\n";
}

}  // namespace tilewright::render
