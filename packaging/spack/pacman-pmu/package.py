from spack.package import *


class PacmanPmu(Package):
    """Hardware counters of each thread on SMT cores: a command, a library that is
    preloaded into OpenMP programs, and a C and Fortran API."""

    license("MIT OR Apache-2.0", checked_by="The PACMAN authors")

    # The sources are a working copy: spack dev-build or spack develop names it.
    version("0.1.0")

    depends_on("c", type="build")
    depends_on("rust@1.85:", type="build")
    depends_on("binutils", type="build")

    conflicts("platform=darwin", msg="PACMAN counts by Linux's perf events")
    conflicts("platform=windows", msg="PACMAN counts by Linux's perf events")

    def install(self, spec, prefix):
        Executable("./install.sh")("--dist", "--prefix", prefix)

    def setup_run_environment(self, env):
        env.prepend_path("LD_LIBRARY_PATH", self.prefix.lib)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        command = Executable(self.prefix.bin.join("pacman-pmu"))
        command("encode", "--cpu", "skl", "CYCLES")
        command("train", "--help")
