# With CMAKE_UNITY_BUILD (presets release and asan) a folder is compiled as a few large sources, in a fraction of the time: the
# names in its unnamed namespaces must differ.
# Little of a run is spent in these folders, so they are optimized less.
if(CMAKE_UNITY_BUILD AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL wasm32)
  foreach(target IN ITEMS files_objects capture_objects lint_objects sample_objects experiment_objects answer_objects read_objects render_objects
                          cli_objects measure)
    target_compile_options(tilewright_${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endforeach()
endif()
