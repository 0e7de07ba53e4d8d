"""A compiler for functions that only kernels call.

Numba turns every function into machine code, and then does so again with every kernel that the
function is linked into, directly or not. What nobody calls by itself does not need it. It is
optimised all the same: kernels become up to an eighth slower if their parts are not.
"""

# mypy: disable-error-code="no-untyped-call"

from typing import Any

from llvmlite import binding, ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder

# Numba's name for what a function finds of Python at run time begins so.
_ENVIRONMENT = "_ZN08NumbaEnv"


class PartLibrary(JITCodeLibrary):
    """A function for kernels to link; at run time there is nothing of it but its environment."""

    def finalize(self) -> None:
        """Link what the function calls, optimise it, and leave it at that."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._optimize_final_module()
        self._finalize_dynamic_globals()
        linked = self._final_module
        for function in linked.functions:
            if not function.is_declaration and function.linkage == binding.Linkage.external:
                # Several kernels may bring it along.
                function.linkage = "linkonce_odr"
        self._shared_module = linked
        self._final_module = self._environments_of(linked)
        self._finalize_final_module()

    def _environments_of(self, linked: Any) -> Any:
        """Return a module with the environments of a linked one, because Numba writes to these."""
        module = self._codegen._create_empty_module(self.name)
        pointer = ir.IntType(8).as_pointer()
        for variable in linked.global_variables:
            if variable.name.startswith(_ENVIRONMENT):
                environment = ir.GlobalVariable(module, pointer, variable.name)
                environment.linkage = "common"
                environment.initializer = ir.Constant(pointer, None)
        return binding.parse_assembly(str(module))


class CompilerOfParts(CompilerBase):
    """Numba's own steps, which end with a `PartLibrary`."""

    def define_pipelines(self) -> list[Any]:
        """Say where the result is put, and which steps make it."""
        state = self.state
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return [DefaultPassBuilder.define_nopython_pipeline(state)]
