# Flags of every target of ours. -ffp-contract=off: a fused step is written std::fma, never chosen
# by the compiler, so that debug, release and other devices give the same bits.
add_library(slackline_flags INTERFACE)
target_compile_features(slackline_flags INTERFACE cxx_std_20)
target_compile_options(slackline_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor -ffp-contract=off
  # A field that is not named has the default that its struct gives it.
  -Wno-missing-field-initializers)

# slackline_library(NAME SOURCES ... [DEPS ...] [PRIVATE_DEPS ...])
# A static library slackline_NAME, alias slackline::NAME, whose headers are included by their path
# from the top of the tree.
function(slackline_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(slackline_${name} STATIC ${ARG_SOURCES})
  add_library(slackline::${name} ALIAS slackline_${name})
  target_include_directories(slackline_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  target_link_libraries(slackline_${name} PUBLIC ${ARG_DEPS}
                        PRIVATE ${ARG_PRIVATE_DEPS} $<BUILD_INTERFACE:slackline_flags>)
endfunction()

# slackline_program(NAME SOURCES ... DEPS ...): the binary bin/NAME.
function(slackline_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} slackline_flags)
  install(TARGETS ${name})
endfunction()

# slackline_test(NAME LABEL ... SOURCES ... DEPS ...): one GoogleTest binary, its cases registered
# with ctest under the label.
function(slackline_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main slackline_flags)
  # A table of cases names the fields that matter and leaves the others at their defaults.
  target_compile_options(${name} PRIVATE -Wno-missing-field-initializers)
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST
                       PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
endfunction()
