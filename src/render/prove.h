// A proof as text, as JSON, and as the PyTorch program that checks it.
#pragma once

#include <string>

#include "render/style.h"
#include "tilewright/prove.h"

namespace tilewright::render {

/// One file that needs torch alone: every shape with its promise, a decoder of any of them, its training step, a
/// stopwatch, and the table of promised against measured.
std::string prove_program(const Proof& proof);

/// What is promised; `path` is the program's, empty where it is not said how to run it.
std::string prove_text(const Proof& proof, const std::string& path, const Style& style);
std::string prove_json(const Proof& proof, const std::string& path);

}  // namespace tilewright::render
