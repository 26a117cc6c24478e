# With CMAKE_UNITY_BUILD (presets release and asan) a folder is compiled as a few large sources, in a fraction of the time: the
# names in its unnamed namespaces must differ. These sources still share one with a neighbour and are compiled alone.
function(tilewright_alone folder)
  list(TRANSFORM ARGN REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/src/${folder}/\\1.cpp" OUTPUT_VARIABLE sources)
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
tilewright_alone(shape validate_test)
tilewright_alone(ops kinds stream_call)
tilewright_alone(cost stream)
tilewright_alone(fit boost collectives intervals judge streams)
tilewright_alone(read shape_file_test toml_test)
tilewright_alone(render advise_text catalogue_text chart_layout config_json report_pictures report_test search_text)
tilewright_alone(cli fit reproduce search_options write_configs)

# Little of a run is spent in these folders, so they are optimized less.
if(CMAKE_UNITY_BUILD)
  foreach(target IN ITEMS lint_objects sample_objects experiment_objects render_objects cli_objects measure)
    target_compile_options(tilewright_${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endforeach()
endif()
