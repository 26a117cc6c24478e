# The program as a Python module: every folder but what needs a terminal or signals, for which bindings/python stands in.
# setup.py calls it.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_compile_definitions(FMT_HEADER_ONLY)  # so that a wheel needs no libfmt where it goes
add_link_options(-Wl,--as-needed)
set(TILEWRIGHT_TESTS OFF)
set(TILEWRIGHT_MEASURE OFF)
set(TILEWRIGHT_LEFT_OUT "/src/cli/(interrupt|terminal)\\.cpp")
set(PYBIND11_FINDPYTHON ON)
find_package(pybind11 REQUIRED)

function(tilewright_python_module)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bindings/python/*.cpp)
  pybind11_add_module(tilewright_python NO_EXTRAS ${sources})
  set_target_properties(tilewright_python PROPERTIES OUTPUT_NAME _tilewright UNITY_BUILD OFF LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  target_compile_options(tilewright_python PRIVATE ${TILEWRIGHT_WARNINGS})
  target_link_libraries(tilewright_python PRIVATE tilewright_cli)
endfunction()
