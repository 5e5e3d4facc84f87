"""Markdown as HTML: anchors as code hosts give them, links between pages, addresses filled in, nothing left raw."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from markdown_it import MarkdownIt
from markupsafe import Markup

from webapp.manual.markdown import anchor_of, render

PAGE = """# The page

First sentence. Second one, with
a line break.

## Rows & `columns`

| Name | What |
|---|---|
| `a` | one |

See [there](embed.md#check-a-signature), [here](#rows--columns) and [away](https://example.com/a.md).

### Code

```python
print("<b>", "http://localhost:8600/x")
```
"""


def test_headings_have_the_anchors_of_code_hosts_and_lead_to_themselves() -> None:
    page = render(PAGE, {})
    assert [(section.level, section.heading, section.anchor) for section in page.sections] == [
        (1, "The page", "the-page"), (2, "Rows & columns", "rows--columns"), (3, "Code", "code"),
    ]  # fmt: skip
    assert '<h2 id="rows--columns"><a href="#rows--columns">Rows &amp; <code>columns</code></a></h2>' in page.html
    assert anchor_of("What's kept, and how long?") == "whats-kept-and-how-long"


def test_the_title_is_left_to_the_template() -> None:
    page = render(PAGE, {})
    assert (page.title, page.lead) == ("The page", "First sentence.")
    assert "<h1" not in page.html


def test_sections_hold_their_plain_text() -> None:
    first, rows, code = render(PAGE, {}).sections
    assert first.text == "First sentence. Second one, with a line break."
    assert rows.text.splitlines()[:4] == ["Name", "What", "a", "one"]
    assert code.text.startswith('print("<b>"')


def test_pages_link_to_where_they_are_served() -> None:
    html = render(PAGE, {}).html
    assert '<a href="/docs/embed#check-a-signature" class="link">there</a>' in html
    assert '<a href="#rows--columns" class="link">here</a>' in html
    assert '<a href="https://example.com/a.md" class="link">away</a>' in html
    assert 'href="/docs/files/patchbay-web@.service"' in render("# A\n\n[x](files/patchbay-web@.service)\n", {}).html


def test_tables_scroll_and_say_what_their_cells_are() -> None:
    html = render(PAGE, {}).html
    assert '<div class="table" tabindex="0"><table>' in html and "</table></div>" in html
    assert '<td><code>a</code></td>\n<td data-label="What">one</td>' in html


def test_addresses_are_filled_in_before_anything_is_escaped() -> None:
    source = (
        "# A\n\n[x](http://localhost:8600/docs/api) `http://localhost:8600/h/KEY`\n\n```\nhttp://localhost:8600\n```\n"
    )
    hostile = 'https://a.example/"><script>alert(1)</script>'
    html = render(source, {"http://localhost:8600": hostile}).html
    assert "localhost" not in html and "<script" not in html
    assert html.count("&lt;script&gt;") >= 2


def test_a_longer_address_wins_over_the_beginning_of_it() -> None:
    html = render("# A\n\nab abc\n", {"ab": "1", "abc": "2"}).html
    assert "<p>1 2</p>" in html


def test_html_in_the_text_stays_text() -> None:
    html = render("# A\n\n<script>alert(1)</script>\n\nx <b onclick=y>z</b>\n", {}).html
    assert isinstance(html, Markup)
    assert "<script" not in html and "<b" not in html and "&lt;script&gt;" in html


def test_threads_wait_for_each_other_because_the_parser_fills_a_table_that_all_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inside = threading.Semaphore()
    parse = MarkdownIt.parse

    def one_at_a_time(self: MarkdownIt, source: str) -> object:
        assert inside.acquire(blocking=False), "a second thread parses meanwhile"
        threading.Event().wait(0.01)
        tokens = parse(self, source)
        inside.release()
        return tokens

    monkeypatch.setattr(MarkdownIt, "parse", one_at_a_time)
    with ThreadPoolExecutor(2) as threads:
        pages = list(threads.map(lambda _: render(PAGE, {}), range(4)))
    assert all(page == pages[0] for page in pages)


def test_pictures_follow_the_theme_and_other_images_stay_as_they_are() -> None:
    page = render('# A\n\n![All "apps"](../../static/pictures/apps.webp)\n\n![x](https://a.example/x.png)\n', {})
    assert re.search(
        r'srcset="/static/pictures/apps-dark\.webp\?v=\w+" media="\(prefers-color-scheme: dark\)"', page.html
    )
    assert re.search(
        r'src="/static/pictures/apps\.webp\?v=\w+" alt="All &#34;apps&#34;" width="\d+" height="\d+"', page.html
    )
    assert page.html.count("<picture>") == 1 and '<img src="https://a.example/x.png" alt="x" />' in page.html
    assert 'media="all"' in page.themed("dark") and 'media="not all"' in page.themed("light")
    assert page.themed("auto") == page.html
