// The program: argv in, exit code out.
#pragma once

namespace tilewright::cli {

int run(int argc, char** argv);

}  // namespace tilewright::cli
