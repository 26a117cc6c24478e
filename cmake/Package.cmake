# What `cmake --install` ships: the program, one static library of every folder, the public headers and a package config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(folders GLOBAL PROPERTY TILEWRIGHT_OBJECTS)
list(REMOVE_ITEM folders tilewright_cli_objects)
foreach(folder IN LISTS folders)
  list(APPEND objects $<TARGET_OBJECTS:${folder}>)
endforeach()
add_library(tilewright STATIC ${objects})
target_link_libraries(tilewright PRIVATE fmt::fmt ZLIB::ZLIB)
target_include_directories(tilewright INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(tilewright INTERFACE cxx_std_20)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tilewright)
install(TARGETS tilewright_program RUNTIME)
install(TARGETS tilewright EXPORT Tilewright ARCHIVE)
install(DIRECTORY include/tilewright TYPE INCLUDE)
install(EXPORT Tilewright NAMESPACE Tilewright:: DESTINATION ${package_dir})
file(WRITE ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake
     "include(CMakeFindDependencyMacro)\nfind_dependency(fmt)\nfind_dependency(ZLIB)\ninclude(\"\${CMAKE_CURRENT_LIST_DIR}/Tilewright.cmake\")\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake ${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake
        DESTINATION ${package_dir})
