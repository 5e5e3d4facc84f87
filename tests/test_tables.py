"""Each table of the schema is written by one module; whoever else wants a change calls that module."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

WEBAPP = Path(__file__).parent.parent / "webapp"
TABLE = re.compile(r"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)")
WRITE = re.compile(
    r"\b(?:(?:INSERT|REPLACE)\s+(?:OR\s+\w+\s+)?INTO|DELETE\s+FROM|UPDATE(?=\s+(?:OR\s+\w+\s+)?\S+\s+(?:AS\s+\w+\s+)?SET\b))"
    r"\s+(?:OR\s+\w+\s+)?([\w{}]+)"
)
MAY_WRITE = re.compile(r"""(?:INSERT|REPLACE|DELETE|UPDATE)(?:[\s\\]|["']\s*f?["'])|\bTable\(""")
"""What a module says that writes to a table, though in two pieces, or declares one as its own."""
MAY_SEARCH = re.compile(r"\bLIKE\b|\b(?:LOWER|lower|instr)\((?!\))")
"""What a module says that has a statement search text; ``lower()`` of Python does not."""
DOMAIN = "service/domain/"
MECHANISMS = {  # they write to the table that a module named, or to every table
    "store/table.py", "service/domain/base/service.py", "store/sqlite.py", "store/move.py",
    "store/postgres/months.py",
}  # fmt: skip


def test_each_table_has_one_writer() -> None:
    writers = _writers()
    assert set(writers) == _tables()
    assert {table: files for table, files in writers.items() if len(files) > 1} == {}


def test_comments_of_the_schema_name_modules_that_exist() -> None:
    schema = (file.read_text("utf-8") for file in (WEBAPP / "store" / "schema").glob("*.sql"))
    named = {path for sql in schema for path in re.findall(r"^-- ([\w/]+\.py)", sql, re.MULTILINE)}
    assert named and [path for path in sorted(named) if not (WEBAPP / path).is_file()] == []


def test_no_statement_searches_text_but_by_the_function_of_every_store() -> None:
    """``LIKE`` and ``LOWER`` of SQLite know the letters of ASCII alone."""
    catalog, store = WEBAPP / "service" / "catalog", WEBAPP / "store"
    functions = (store / "contract.py", store / "postgres" / "schema.py")
    elsewhere = {catalog / "apps", catalog / "shared"}  # what components write is for other databases
    files = (file for file in WEBAPP.rglob("*.py") if file not in functions and elsewhere.isdisjoint(file.parents))
    sources = ((file.name, file.read_text("utf-8")) for file in files)
    few = ((name, source) for name, source in sources if MAY_SEARCH.search(source))
    texts = ((name, text) for name, source in few for text in _strings(ast.parse(source)))
    found = [name for name, text in texts if re.search(r"\bLIKE\s+[:'?]|\b(LOWER|lower|instr)\(\w", text)]
    assert found == []


def test_the_statements_are_seen() -> None:
    statements = (
        "INSERT INTO a (x) VALUES (1) ON CONFLICT DO UPDATE SET x = 2", "INSERT OR IGNORE INTO b", "REPLACE INTO c",
        "UPDATE d SET x = 1", "UPDATE OR IGNORE e\n SET x = 1", "DELETE FROM f", "UPDATE g AS h SET",
        "SELECT 1 FROM i FOR UPDATE",
    )  # fmt: skip
    assert [table for text in statements for table in WRITE.findall(text)] == ["a", "b", "c", "d", "e", "f", "g"]
    assert all(map(MAY_WRITE.search, (*statements[:-1], '("DELETE"\n    " FROM a")', 'Table("a", Row)')))
    assert all(map(MAY_SEARCH.search, ("x LIKE :a", '"x LIKE "\n":a"', "LOWER(x)", "lower(x)", "instr(x, :a)")))
    assert list(_declared(ast.parse('ROWS: Table[Row] = Table("a", Row)'))) == ["a"]
    parts = ast.parse("""x = f"DELETE FROM {t} " f"WHERE {y}"; z = "UPDATE a " "SET b = 1" """)
    assert list(_strings(parts)) == ["DELETE FROM {} WHERE {}", "UPDATE a SET b = 1"]


def _tables() -> set[str]:
    schema = "\n".join(file.read_text("utf-8") for file in (WEBAPP / "store" / "schema").glob("*.sql"))
    return set(TABLE.findall(schema)) - set(re.findall(r"^DROP TABLE (\w+)", schema, re.MULTILINE))


def _writers() -> dict[str, set[str]]:
    """The modules that write each table, named below ``service/domain`` where they stand there."""
    writers = defaultdict(set)
    for file in WEBAPP.rglob("*.py"):
        name = file.relative_to(WEBAPP).as_posix()
        if name.startswith("sandbox/"):  # it has a database of its own
            continue
        source = file.read_text("utf-8")
        if not MAY_WRITE.search(source):  # parsing it would be most of the work
            continue
        tree = ast.parse(source)
        for table in (*_declared(tree), *(table for text in _strings(tree) for table in WRITE.findall(text))):
            if table != "{}" or name not in MECHANISMS:
                writers[table].add(name.removeprefix(DOMAIN))
    return dict(writers)


def _declared(tree: ast.AST) -> Iterator[str]:
    """The tables that a module declares as its own: ``Table("name", …)``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Table":
            yield from (str(arg.value) for arg in node.args[:1] if isinstance(arg, ast.Constant))


def _strings(tree: ast.AST) -> Iterator[str]:
    """Every string of a module; what is filled into one stands as ``{}``."""
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)} - {
        id(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value
