// The verbs as tools of the Model Context Protocol: what each is called, the JSON schema of its arguments, made from
// the table of flags, and the command line that a call is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "read/document.h"
#include "tilewright/result.h"

namespace tilewright::cli {

/// The tools as the list that `tools/list` answers with: a JSON array.
std::string tools_json();

/// What one call asks of the program.
struct ToolCall {
    std::vector<std::string> words;  ///< after the program's name
    std::string input;               ///< what `-` among them reads
    bool json = false;               ///< whether the answer is a JSON document
};

bool is_tool(std::string_view name);

/// The call of a tool that there is; `arguments` is an object or null. Nothing in it can name a file to write.
Result<ToolCall> tool_call(std::string_view name, const read::Value* arguments);

}  // namespace tilewright::cli
