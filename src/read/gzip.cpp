// Deflate by canonical Huffman codes: a code of a given length is a number, and codes of one length are consecutive, so
// that counts per length and the symbols in order are all that decoding needs (RFC 1951, section 3.2.2).
#include "read/gzip.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace tilewright::read {
namespace {

constexpr int longest_code = 15;

/// Bits from the lowest of each byte up. Past the end come zeros, and `ended` says so.
class Bits {
public:
    explicit Bits(std::string_view bytes) : bytes_(bytes) {}

    std::uint32_t take(int count) {
        while (held_ < count) {
            buffer_ |= std::uint64_t{next_byte()} << static_cast<unsigned>(held_);
            held_ += 8;
        }
        const auto value =
            static_cast<std::uint32_t>(buffer_ & ((std::uint64_t{1} << static_cast<unsigned>(count)) - 1));
        buffer_ >>= static_cast<unsigned>(count);
        held_ -= count;
        return value;
    }

    /// Drops what is left of the byte begun.
    void align() { take(held_ % 8); }

    /// The next whole bytes; empty when there are not so many.
    std::string_view bytes(std::size_t count) {
        if (count > bytes_.size() - at_) ended_ = true;
        const std::string_view taken = ended_ ? std::string_view{} : bytes_.substr(at_, count);
        at_ += taken.size();
        return taken;
    }

    bool ended() const { return ended_; }

private:
    std::uint8_t next_byte() {
        if (at_ < bytes_.size()) return static_cast<std::uint8_t>(bytes_[at_++]);
        ended_ = true;
        return 0;
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
    std::uint64_t buffer_ = 0;
    int held_ = 0;
    bool ended_ = false;
};

class Huffman {
public:
    explicit Huffman(std::span<const std::uint8_t> lengths) : symbols_(lengths.size()) {
        for (std::uint8_t length : lengths) ++counts_[length];
        counts_[0] = 0;
        std::array<std::size_t, longest_code + 2> start{};
        std::partial_sum(counts_.begin(), counts_.end(), start.begin() + 1);
        for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
            if (lengths[symbol] != 0) symbols_[start[lengths[symbol]]++] = static_cast<int>(symbol);
        }
    }

    /// The next symbol, or -1 where the bits are no code.
    int next(Bits& bits) const {
        std::size_t code = 0, first = 0, before = 0;
        for (std::size_t length = 1; length <= longest_code; ++length) {
            code |= bits.take(1);
            if (code < first + counts_[length]) return code < first ? -1 : symbols_[before + code - first];
            before += counts_[length];
            first = (first + counts_[length]) << 1U;
            code <<= 1U;
        }
        return -1;
    }

private:
    std::array<std::size_t, longest_code + 1> counts_{};
    std::vector<int> symbols_;
};

/// Lengths and distances: a base and how many more bits follow (RFC 1951, section 3.2.5).
struct Extra {
    std::uint16_t base;
    std::uint8_t bits;
};
constexpr std::array<Extra, 29> lengths{{{3, 0},   {4, 0},   {5, 0},   {6, 0},   {7, 0},  {8, 0},  {9, 0},  {10, 0},
                                         {11, 1},  {13, 1},  {15, 1},  {17, 1},  {19, 2}, {23, 2}, {27, 2}, {31, 2},
                                         {35, 3},  {43, 3},  {51, 3},  {59, 3},  {67, 4}, {83, 4}, {99, 4}, {115, 4},
                                         {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}}};
constexpr std::array<Extra, 30> distances{{{1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},
                                           {9, 2},     {13, 2},    {17, 3},    {25, 3},     {33, 4},     {49, 4},
                                           {65, 5},    {97, 5},    {129, 6},   {193, 6},    {257, 7},    {385, 7},
                                           {513, 8},   {769, 8},   {1025, 9},  {1537, 9},   {2049, 10},  {3073, 10},
                                           {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}}};

class Inflater {
public:
    Inflater(Bits& bits, std::size_t limit) : bits_(bits), limit_(limit) {}

    /// Every block; whether all of it was well formed and within the limit.
    bool run() {
        for (bool last = false; !last;) {
            last = bits_.take(1) != 0;
            if (!block(bits_.take(2)) || bits_.ended()) return false;
        }
        return true;
    }

    std::string out;

private:
    bool block(std::uint32_t kind) {
        if (kind == 0) return stored();
        if (kind == 1) return compressed(fixed_literals(), Huffman(std::vector<std::uint8_t>(30, 5)));
        return kind == 2 && dynamic();
    }

    bool stored() {
        bits_.align();
        const std::uint32_t size = bits_.take(16);
        if (bits_.take(16) != (size ^ 0xffffU)) return false;
        const std::string_view bytes = bits_.bytes(size);
        out += bytes;
        return bytes.size() == size && out.size() <= limit_;
    }

    static Huffman fixed_literals() {
        std::array<std::uint8_t, 288> sizes{};
        for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
        return Huffman(sizes);
    }

    bool dynamic() {
        static constexpr std::array<std::uint8_t, 19> order{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                            11, 4,  12, 3, 13, 2, 14, 1, 15};
        const std::size_t literals = bits_.take(5) + 257, spans = bits_.take(5) + 1, codes = bits_.take(4) + 4;
        std::array<std::uint8_t, 19> code_sizes{};
        for (std::size_t i = 0; i < codes; ++i) code_sizes[order[i]] = static_cast<std::uint8_t>(bits_.take(3));
        std::vector<std::uint8_t> sizes;
        if (!read_sizes(Huffman(code_sizes), literals + spans, sizes)) return false;
        const std::span<const std::uint8_t> all(sizes);
        return compressed(Huffman(all.first(literals)), Huffman(all.subspan(literals)));
    }

    /// Code lengths, themselves coded: 16 repeats the last one, 17 and 18 repeat zero.
    bool read_sizes(const Huffman& codes, std::size_t wanted, std::vector<std::uint8_t>& sizes) {
        while (sizes.size() < wanted && !bits_.ended()) {
            const int symbol = codes.next(bits_);
            if (symbol < 0 || (symbol == 16 && sizes.empty())) return false;
            const std::uint8_t repeated = symbol < 16    ? static_cast<std::uint8_t>(symbol)
                                          : symbol == 16 ? sizes.back()
                                                         : 0;
            const std::uint32_t times = symbol < 16    ? 1
                                        : symbol == 16 ? 3 + bits_.take(2)
                                        : symbol == 17 ? 3 + bits_.take(3)
                                                       : 11 + bits_.take(7);
            sizes.insert(sizes.end(), times, repeated);
        }
        return sizes.size() == wanted;
    }

    bool compressed(const Huffman& literals, const Huffman& spans) {
        while (!bits_.ended() && out.size() <= limit_) {
            const int symbol = literals.next(bits_);
            if (symbol == 256) return true;
            if (symbol < 0 || symbol > 285) return false;
            if (symbol < 256) {
                out += static_cast<char>(symbol);
            } else if (!copy(lengths[static_cast<std::size_t>(symbol - 257)], spans)) {
                return false;
            }
        }
        return false;
    }

    bool copy(Extra length, const Huffman& spans) {
        const std::size_t size = length.base + bits_.take(length.bits);
        const int span = spans.next(bits_);
        if (span < 0 || span > 29) return false;
        const Extra extra = distances[static_cast<std::size_t>(span)];
        const std::size_t back = extra.base + bits_.take(extra.bits);
        if (back > out.size()) return false;
        for (std::size_t i = 0; i < size; ++i) out += out[out.size() - back];
        return true;
    }

    Bits& bits_;
    std::size_t limit_;
};

std::uint32_t checksum(std::string_view bytes) {
    static constexpr auto table = [] {
        std::array<std::uint32_t, 256> values{};
        for (std::uint32_t i = 0; i < values.size(); ++i) {
            values[i] = i;
            for (int bit = 0; bit < 8; ++bit) values[i] = (values[i] >> 1U) ^ ((values[i] & 1U) * 0xedb88320U);
        }
        return values;
    }();
    std::uint32_t sum = 0xffffffffU;
    for (char c : bytes) sum = (sum >> 8U) ^ table[(sum ^ static_cast<std::uint8_t>(c)) & 0xffU];
    return ~sum;
}

/// Skips what stands before the compressed bytes: a name, a comment, anything else that the flags announce.
void skip_header(Bits& bits) {
    constexpr std::uint32_t has_checksum = 2, has_extra = 4, has_name = 8, has_comment = 16;
    bits.bytes(3);
    const std::uint32_t flags = bits.take(8);
    bits.bytes(6);
    if ((flags & has_extra) != 0) bits.bytes(bits.take(16));
    for (std::uint32_t text : {has_name, has_comment}) {
        while ((flags & text) != 0 && bits.take(8) != 0) {
        }
    }
    if ((flags & has_checksum) != 0) bits.take(16);
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b\x08"); }

Result<std::string> gunzip(std::string_view bytes, const std::string& where, std::size_t limit) {
    Bits bits(bytes);
    skip_header(bits);
    Inflater inflater(bits, limit);
    const bool whole = is_gzip(bytes) && inflater.run();
    if (inflater.out.size() > limit) {
        return Problem{where, 0, "holds more than " + std::to_string(limit >> 20U) + " MiB",
                       "is it the file you meant?"};
    }
    bits.align();
    const std::uint32_t sum = bits.take(32), size = bits.take(32);
    if (whole && !bits.ended() && sum == checksum(inflater.out) &&
        size == static_cast<std::uint32_t>(inflater.out.size())) {
        return std::move(inflater.out);
    }
    return Problem{where, 0, "is no whole gzip file", "was it cut off? `gzip -t` checks it"};
}

}  // namespace tilewright::read
