# Debian's clang for WebAssembly: clang-16, lld-16, wasi-libc, libc++-16-dev-wasm32, libc++abi-16-dev-wasm32 and
# libclang-rt-16-dev-wasm32 (cmake/install-packages explorer). Any later version of them does.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
find_program(CMAKE_CXX_COMPILER NAMES clang++-16 clang++-17 clang++-18 clang++-19 clang++-20 REQUIRED)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_FLAGS_INIT "-nostdinc++ -isystem /usr/include/wasm32-wasi/c++/v1")
set(CMAKE_CXX_STANDARD_LIBRARIES "-lc++ -lc++abi")
set(CMAKE_EXECUTABLE_SUFFIX_CXX .wasm)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
