"""``make marks``: takes the marks of brands from the packages that ``marks/sources.toml`` names, and makes them small.

A mark is written as plain shapes: what an SVG may hold besides (scripts, styles, links, metadata, text) is left out,
and an icon that needs it is refused. The files are in the tree, so that a catalog is the same on every machine, without
a registry and without the 30 MB of the packages.
"""

import json
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from webapp.service.catalog import logos

SVG = "http://www.w3.org/2000/svg"
LEFT_OUT = {"title", "desc", "metadata", "style"}
DECIMALS = 3
_SHAPES = (
    "svg g defs path circle ellipse rect polygon polyline line linearGradient radialGradient stop clipPath mask use"
)
_ATTRIBUTES = (
    "viewBox id d points transform x y x1 y1 x2 y2 cx cy r rx ry fx fy width height fill fill-rule fill-opacity"
    " clip-rule clip-path mask opacity stroke stroke-width stroke-linecap stroke-linejoin stroke-miterlimit offset"
    " stop-color stop-opacity gradientTransform gradientUnits maskUnits mask-type href"
)
SHAPES, ATTRIBUTES = frozenset(_SHAPES.split()), frozenset(_ATTRIBUTES.split())
"""What a mark may consist of."""

_BESIDE = re.compile(r"url\((?!#)|[a-z]+:|//", re.IGNORECASE)
_LONG = re.compile(rf"(\.\d{{{DECIMALS}}})\d+")
_RULE = re.compile(r"\.([\w-]+)\s*\{([^}]*)\}")
_JS = re.compile(r"export const svg = `(.*?)`;", re.DOTALL)


def main() -> int:
    """Write every mark; an error where one cannot be taken."""
    sources = tomllib.loads((logos.MARKS / "sources.toml").read_text("utf-8"))
    for old in logos.MARKS.glob("*.svg"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        packages = {key: _fetched(Path(folder), package) for key, package in sources["packages"].items()}
        for mark, source in sources["marks"].items():
            package, _, icon = source.partition("/")
            try:
                text = plain(READ[package](packages[package], icon))
            except (KeyError, OSError, StopIteration, ValueError) as error:
                print(f"{mark} cannot be taken from {source}: {error}", file=sys.stderr)
                return 1
            (logos.MARKS / f"{mark}.svg").write_text(f"{text}\n", "utf-8")
    print(f"{len(sources['marks'])} marks, {sum(file.stat().st_size for file in logos.MARKS.glob('*.svg')):,} bytes")
    return 0


def _fetched(folder: Path, package: Mapping[str, str]) -> Path:
    """The unpacked ``package``."""
    name = f"{package['name']}@{package['version']}"
    packed = subprocess.run(["npm", "pack", name, "--json"], cwd=folder, check=True, capture_output=True, text=True)
    target = folder / package["name"].replace("/", "-")
    with tarfile.open(folder / json.loads(packed.stdout)[0]["filename"]) as archive:
        archive.extractall(target, filter="data")
    return target / "package"


def _of_iconify(package: Path, icon: str) -> str:
    found = _json(package / "icons.json")
    shape = found["icons"][icon]
    width, height = (shape.get(side, found.get(side, 16)) for side in ("width", "height"))
    return f'<svg xmlns="{SVG}" viewBox="0 0 {width} {height}">{shape["body"]}</svg>'


def _of_simple_icons(package: Path, icon: str) -> str:
    colour = next(each["hex"] for each in _json(package / "data" / "simple-icons.json") if _slug(each) == icon)
    return (package / "icons" / f"{icon}.svg").read_text("utf-8").replace("<path ", f'<path fill="#{colour}" ')


def _slug(icon: Mapping[str, Any]) -> str:
    return str(icon.get("slug") or re.sub("[^a-z0-9]", "", icon["title"].lower().replace(".", "dot")))


def _of_thesvg(package: Path, icon: str) -> str:
    (document,) = _JS.findall((package / "dist" / f"{icon}.js").read_text("utf-8"))
    return str(document)


READ: Mapping[str, Callable[[Path, str], str]] = {
    "lobe": lambda package, icon: (package / "icons" / f"{icon}.svg").read_text("utf-8"),
    "logos": _of_iconify,
    "simple": _of_simple_icons,
    "thesvg": _of_thesvg,
}


def _json(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def plain(document: str) -> str:
    """``document`` as shapes alone, with numbers of at most three decimals. Raises ``ValueError`` for anything else."""
    root = ElementTree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", document))
    if "viewBox" not in root.attrib:
        root.set("viewBox", f"0 0 {root.attrib['width'].removesuffix('px')} {root.attrib['height'].removesuffix('px')}")
    sheets = [element for element in root.iter() if element.tag == f"{{{SVG}}}style"]
    _tidy(root, dict(_RULE.findall("".join(sheet.text or "" for sheet in sheets))))
    for name in root.attrib.keys() - {"viewBox", "fill"}:
        del root.attrib[name]
    ElementTree.register_namespace("", SVG)
    text = re.sub(r">\s+<", "><", ElementTree.tostring(root, encoding="unicode").strip())
    if problem := unsafe(text):
        raise ValueError(problem)
    return text


def unsafe(document: str) -> str:
    """What a mark holds besides plain shapes, as a sentence; "" if nothing."""
    for element in ElementTree.fromstring(document).iter():
        if (tag := element.tag.removeprefix(f"{{{SVG}}}")) not in SHAPES:
            return f"It has a <{tag}>."
        if (element.text or "").strip() or (element.tail or "").strip():
            return "It has text."
        for name, value in element.attrib.items():
            if name not in ATTRIBUTES or _BESIDE.search(value) or (name == "href" and not value.startswith("#")):
                return f"It has {name}={value[:60]!r}."
    return ""


def _tidy(element: Element, rules: Mapping[str, str]) -> None:
    """Turn styles, and the ``rules`` of classes, into attributes, and leave out what draws nothing."""
    for child in list(element):
        if child.tag.removeprefix(f"{{{SVG}}}") in LEFT_OUT:
            element.remove(child)
        else:
            _tidy(child, rules)
    classes = [rules[name] for name in element.attrib.pop("class", "").split() if name in rules]
    style = ";".join((*classes, element.attrib.pop("style", "")))
    for rule in filter(None, (rule.strip() for rule in style.split(";"))):
        name, _, value = rule.partition(":")
        if name.strip() in ATTRIBUTES:
            element.set(name.strip(), value.strip())
    for name in list(element.attrib):
        if name.startswith("{") or name in ("role", "data-name", "version", "xml:space", "focusable"):
            value = element.attrib.pop(name)
            if name.endswith("}href"):
                element.set("href", value)
        else:
            element.set(name, _LONG.sub(r"\1", re.sub(r"\s+", " ", element.attrib[name])).strip())


if __name__ == "__main__":
    sys.exit(main())
