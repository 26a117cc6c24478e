"""Builds the module tilewright._tilewright with CMake, in build/python; the rest is in pyproject.toml. TILEWRIGHT_CMAKE adds to its flags."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
BUILD = ROOT / "build" / "python"


class BuildByCMake(build_ext):
    def build_extension(self, extension):
        flags = ["-DTILEWRIGHT_PYTHON=ON", "-DTILEWRIGHT_BENCH=OFF", f"-DPython_EXECUTABLE={sys.executable}"]
        try:
            import pybind11
            flags.append(f"-Dpybind11_DIR={pybind11.get_cmake_dir()}")
        except ImportError:  # for cmake to find
            pass
        flags += shlex.split(os.environ.get("TILEWRIGHT_CMAKE", ""))
        subprocess.run(["cmake", "--preset", "release", "-B", str(BUILD), *flags], cwd=ROOT, check=True)
        subprocess.run(["cmake", "--build", str(BUILD), "--target", "tilewright_python"], cwd=ROOT, check=True)
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(next(BUILD.glob("_tilewright.*so")), target)


version = re.search(r"project\(Tilewright VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
setup(version=version, ext_modules=[Extension("tilewright._tilewright", [])], cmdclass={"build_ext": BuildByCMake})
