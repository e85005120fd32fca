# Writes the revision of the sources into a header: cmake -DSOURCE=... -DHEADER=... -P write_revision.cmake
# Empty outside a checkout. The header is touched only when it changes.
cmake_minimum_required(VERSION 3.25)
get_filename_component(above ${SOURCE} DIRECTORY)
set(ENV{GIT_CEILING_DIRECTORIES} ${above})  # a checkout that the sources merely lie in is not theirs
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=10
                OUTPUT_VARIABLE revision ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define EGC_REVISION \"@revision@\"\n" @ONLY)
