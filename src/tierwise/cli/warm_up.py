"""``tierwise warm-up``: compile in advance what a first use would wait for."""

from tierwise.cli import options, printing


def warm_up_command(
    *,
    quiet: options.Quiet = False,
) -> None:
    """Compile everything once for this machine: fits, searches, posteriors and pages.

    Otherwise the first use waits, some seconds for each kind of answers. All cores compile. The
    compiled code is kept beside the package, or in the folder named by the environment variable
    NUMBA_CACHE_DIR.
    """
    from tierwise._compiling.beforehand import compile_kernels, kernels_by_module
    from tierwise._util.processes import n_cores
    from tierwise._util.tasks import run_tasks

    if not quiet:
        printing.note("Compiling, which takes about a minute.")
    run_tasks(
        compile_kernels,
        [(kernels,) for kernels in kernels_by_module()],
        description="Compiling",
        workers=n_cores(),
        progress=printing.progress(quiet=quiet),
    )
