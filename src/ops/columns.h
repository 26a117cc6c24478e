// How a table of columns is written: each line names a column, says what it may be, and binds it to a member.
#pragma once

#include <array>

#include "tilewright/codec.h"

namespace tilewright {

/// A row on its way to becoming an op: its cells and the problems met.
class Reading {
public:
    Reading(const OpKind& kind, const Cells& cells, Place place) : kind_(kind), cells_(cells), place_(place) {}

    bool given(std::string_view column) const { return !cell(column).empty(); }
    void refuse(std::string_view column, const std::string& expected);
    void report(std::string what, std::string fix);
    void adopt(const Problems& found);  ///< what `validate` found
    void add(Problem problem) { problems_.push_back(std::move(problem)); }

    bool clean() const { return problems_.empty(); }
    const Problems& problems() const { return problems_; }

private:
    std::string_view cell(std::string_view column) const;

    const OpKind& kind_;
    const Cells& cells_;
    Place place_;
    Problems problems_;
};

namespace columns {

template <class Pointer>
struct Owner;
template <class Class, class Member>
struct Owner<Member Class::*> {
    using type = Class;
};

/// The member at the end of a path: &Stack::shape, &Shape::norms, &Norms::kind.
template <auto First, auto... Rest, class D>
auto& reach(D& described) {
    auto& work = std::get<typename Owner<decltype(First)>::type>(described.work);
    return ((work.*First).*....*Rest);
}

template <class Member>
Member from_number(double value) {
    if constexpr (std::is_enum_v<Member>) {
        return names<Member>[static_cast<std::size_t>(value)].second;
    } else if constexpr (std::is_same_v<Member, bool>) {
        return value != 0.0;
    } else {
        return static_cast<Member>(value);
    }
}

template <class Member>
double to_number(Member member) {
    if constexpr (std::is_enum_v<Member>) {
        std::size_t place = 0;
        while (names<Member>[place].second != member) ++place;
        return static_cast<double>(place);
    } else {
        return static_cast<double>(member);
    }
}

template <auto... Path>
void set_member(Described& described, double value) {
    auto& member = reach<Path...>(described);
    member = from_number<std::remove_reference_t<decltype(member)>>(value);
}

template <auto... Path>
double get_member(const Described& described) {
    return to_number(reach<Path...>(described));
}

/// The words of an enumeration, in the order of its table.
template <class E>
inline constexpr auto words_of = [] {
    std::array<std::string_view, names<E>.size()> words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = names<E>[i].first;
    return words;
}();

/// What a column says of itself.
struct About {
    std::string_view name;
    std::string_view unit;
    std::string_view fallback;
    std::string_view help;
};

template <auto... Path>
constexpr Column bound(ColumnType type, const About& about) {
    Column column;
    column.name = about.name;
    column.type = type;
    column.unit = about.unit;
    column.fallback = about.fallback;
    column.help = about.help;
    column.set = set_member<Path...>;
    column.get = get_member<Path...>;
    return column;
}

/// A whole number from 1, or from `least`.
template <auto... Path>
constexpr Column count(const About& about, std::int64_t least = 1) {
    Column column = bound<Path...>(ColumnType::Count, about);
    column.least = least;
    return column;
}

/// A positive number.
template <auto... Path>
constexpr Column amount(const About& about) {
    return bound<Path...>(ColumnType::Amount, about);
}

/// 0 or 1.
template <auto... Path>
constexpr Column flag(const About& about) {
    return bound<Path...>(ColumnType::Flag, about);
}

/// A word of an enumeration.
template <class E, auto... Path>
constexpr Column word(const About& about) {
    Column column = bound<Path...>(ColumnType::Word, about);
    column.words = words_of<E>;
    return column;
}

/// One of two words for a member that is false or true.
template <const auto& List, auto... Path>
constexpr Column either(const About& about) {
    Column column = bound<Path...>(ColumnType::Word, about);
    column.words = List;
    return column;
}

/// A word that is kept as it is, of a list of literals.
template <const auto& List, auto Member>
constexpr Column literal(const About& about) {
    using Class = typename Owner<decltype(Member)>::type;
    Column column;
    column.name = about.name;
    column.type = ColumnType::Word;
    column.fallback = about.fallback;
    column.help = about.help;
    column.words = List;
    column.set = [](Described& described, double value) {
        std::get<Class>(described.work).*Member = List[static_cast<std::size_t>(value)];
    };
    column.get = [](const Described& described) {
        std::size_t place = 0;
        while (List[place] != std::get<Class>(described.work).*Member) ++place;
        return static_cast<double>(place);
    };
    return column;
}

/// The column bound by hand, where more hangs on it than a member; null leaves what there is.
constexpr Column with(Column column, decltype(Column::set) set, decltype(Column::get) get = nullptr) {
    if (set != nullptr) column.set = set;
    if (get != nullptr) column.get = get;
    return column;
}

/// The column under the name that public tables have for it, too.
constexpr Column also(Column column, std::string_view alias) {
    column.alias = alias;
    return column;
}

/// The column, passing over words that it does not know.
constexpr Column lenient(Column column) {
    column.lenient = true;
    return column;
}

}  // namespace columns
}  // namespace tilewright
