"""Configuration of the site, which `make docs` builds from the Markdown files of the repository."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

# Before PyTorch is imported: for small networks a second thread costs more than it gives, if cores are busy.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import dekm  # noqa: E402
from docs.extension.sources import link_of_object as linkcode_resolve  # noqa: E402, F401

project = "dekm"
author = "The dekm authors"
copyright = author  # noqa: A001
version = release = dekm.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.linkcode",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "docs.extension",
]

# The repository is the source, so that a link between two of its pages is the same link on the site.
root_doc = "docs/index"
include_patterns = [
    "[A-Z]*.md",
    "docs/**",
    "config/README.md",
    "results/README.md",
    "results/reference/README.md",
    "results/reference/**/*.md",
    "benchmarks/README.md",
]
exclude_patterns = [
    ".*",
    "docs/_build",
    "docs/extension",
    "docs/tutorials",
    "docs/gallery/**/*.ipynb",
]
exclude_patterns += ["dekm", "tests", "workflow", "resources", "results/[!rR]*"]
suppress_warnings = ["config.cache"]  # of the gallery's settings, which hold functions

nitpicky = True
nitpick_ignore_regex = [  # types in signatures: other projects' and aliases
    ("py:class", r"(?!dekm\.).*"),
    ("py:obj", r"typing\..*"),
    ("py:(class|data|obj)", r"dekm\..*\.(OnIteration|OnEpoch|Constraints|Loss|BuildNetwork)"),
]
default_role = "code"

myst_enable_extensions = ["colon_fence", "dollarmath", "html_image"]
myst_heading_anchors = 4  # GitHub's anchors

autodoc_default_options = {"members": True, "member-order": "bysource"}
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "dekm"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["extra"]
html_sidebars = {"docs/source/**": [], "docs/reference-results": []}  # pages without neighbours
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "navigation_with_keys": False,
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
mathjax3_config = {"options": {"enableMenu": False}}  # its dialogs load further files

sphinx_gallery_conf = {
    "examples_dirs": "docs/tutorials",
    "gallery_dirs": "docs/gallery",
    "filename_pattern": "/",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "min_reported_time": 1e6,
    "write_computation_times": False,
    "matplotlib_animations": False,
}
