// What a shell and `man` read, made from the table of verbs and flags; `cmake --install` puts it where they look.
#pragma once

#include <string>

namespace tilewright::cli {

std::string bash_completion();
std::string zsh_completion();
std::string man_page();  ///< roff, section 1

}  // namespace tilewright::cli
