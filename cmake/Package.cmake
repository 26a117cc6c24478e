# Package: installed program, library, headers and package config.
