"""How Sphinx builds the documentation; ``make docs`` calls it."""

import os
import shutil
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

HERE = Path(__file__).parent
# Figures and files that the pages make; those pages are run before they are read.
MADE = HERE / "_made"
sys.path.insert(0, str(HERE))

from code_blocks import run_page  # noqa: E402 - it lies beside this file

from tierwise import __version__  # noqa: E402

project = "tierwise"
author = "The tierwise developers"
copyright = "the tierwise developers"  # noqa: A001 - the name that Sphinx wants
release = version = __version__

extensions = [
    "myst_parser",
    "mathml",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "_notebooks"]

# Names of other packages link to their documentation where that can be asked for its index: on
# Read the Docs, and where somebody says so. Elsewhere the documentation builds without a network.
if os.environ.get("READTHEDOCS") or os.environ.get("TIERWISE_DOCS_ONLINE"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "xarray": ("https://docs.xarray.dev/en/stable", None),
        "pandas": ("https://pandas.pydata.org/docs", None),
        "matplotlib": ("https://matplotlib.org/stable", None),
    }
    intersphinx_timeout = 30
# In docstrings, `sizes` may be an argument, and attributes of several classes have that name.
suppress_warnings = ["ref.python"]

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
python_maximum_signature_line_length = 80
add_module_names = False

html_theme = "furo"
html_title = f"tierwise {__version__}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["tierwise.css"]
html_extra_path = ["_made/survey.html"]
html_copy_source = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def make_what_pages_show(_app: Sphinx, _config: Config) -> None:
    """Run the pages that make figures."""
    shutil.rmtree(MADE, ignore_errors=True)
    MADE.mkdir()
    for page in sorted(HERE.rglob("*.md")):
        if "_made/" in page.read_text(encoding="utf-8"):
            run_page(page, MADE)


def setup(app: Sphinx) -> None:
    """Run pages before Sphinx reads them."""
    # Early, for Sphinx looks then whether the files it is told to copy are there.
    app.connect("config-inited", make_what_pages_show, priority=100)
