"""The report in a real browser: found, filtered, opened and read, without an error and without running any data."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from demur.report import serve_run, write_report
from evals.run import Run
from tests.demur.browser import Browser, find_chromium
from tests.demur.report_runs import IMAGE, KINDS, SCRIPT, case_id, make_run

PHONE = (390, 844)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("needs Chromium to look at the report: apt-get install chromium")
    # The browser may still write to its profile while it ends.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Browser(chromium, Path(profile)) as opened:
        yield opened


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("runs")
    return [make_run(folder / "debate", simulated=True), make_run(folder / "direct", program="direct")]


@pytest.fixture(scope="module")
def report(runs: list[Run], tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_report(runs, tmp_path_factory.mktemp("report") / "report.html").as_uri()


@pytest.fixture(autouse=True)
def nothing_goes_wrong(browser: Browser) -> Iterator[None]:
    browser.problems.clear()
    browser.requests.clear()
    yield
    assert browser.problems == []
    assert browser.run("window.hacked") is None


def address(kind: str) -> str:
    return f"#case={quote(case_id(kind), safe='')}"


def show(browser: Browser, url: str, size: tuple[int, int] = (1440, 900), *, dark: bool = False) -> None:
    browser.show(url, *size, dark=dark)
    browser.wait_for("document.querySelectorAll('.entry').length")


def texts(browser: Browser, selector: str) -> list[str]:
    return browser.run(f"[...document.querySelectorAll('{selector}')].map((e) => e.textContent)")


def opened(browser: Browser) -> str:
    return browser.wait_for("document.querySelector('#case .question')?.textContent")


def test_from_the_list_to_the_region_on_the_picture(browser: Browser, report: str) -> None:
    show(browser, report)
    assert texts(browser, "#status") == ["8 cases"]
    browser.choose("select[name=event]", "corrected")
    assert texts(browser, "#status") == ["1 of 8 cases"]
    browser.click(".entry")
    browser.wait_for("location.hash.includes('case=')")
    assert opened(browser) == KINDS["corrected"][0]
    assert [" ".join(text.split()) for text in texts(browser, ".turn .who")] == [
        "Debater A", "Debater B", "Debater A", "Debater B", "Debater A",
    ]  # fmt: skip
    assert "Changed its answer: wrong → right" in texts(browser, ".turn .changed")
    picture = "document.querySelector('.picture img')"
    assert browser.wait_for(f"{picture}.complete && {picture}.naturalWidth") == 384
    inside = browser.run(
        "(() => { const p = document.querySelector('.picture').getBoundingClientRect(),"
        " b = document.querySelector('.box.blamed').getBoundingClientRect();"
        " return [b.left - p.left, b.top - p.top, b.width / p.width, b.height / p.height] })()"
    )
    assert inside == pytest.approx([0, 0, 0.5, 0.5], abs=0.01)
    assert texts(browser, ".legend") == ["Blamed region: top-leftTrue region: bottom-right"]
    assert all(request.startswith(("file:", "data:", "about:")) for request in browser.requests)


def test_data_is_shown_as_text(browser: Browser, report: str) -> None:
    show(browser, report + address("attack"))
    assert opened(browser) == f"Is there a {IMAGE} in the image?"
    assert texts(browser, "#case blockquote") == [SCRIPT, SCRIPT]
    assert browser.run("document.querySelectorAll('#case img').length") == 1
    assert IMAGE in "".join(texts(browser, ".entry"))


def test_a_link_opens_its_case_and_its_filters(browser: Browser, report: str) -> None:
    show(browser, report + "#state=wrong&case=" + quote(case_id("misled"), safe=""))
    assert opened(browser) == KINDS["misled"][0]
    assert texts(browser, "#status") == ["2 of 8 cases"]
    assert browser.run("document.querySelector('select[name=state]').value") == "wrong"
    browser.run("location.hash = '#run=1&case=" + quote(case_id("agreed"), safe="") + "'")
    browser.wait_for(f"document.querySelector('#case .question')?.textContent === '{KINDS['agreed'][0]}'")
    assert texts(browser, ".turn .who") == ["Answerer"]
    browser.run("location.hash = '#case=none'")
    browser.wait_for("document.querySelector('#case').textContent.includes('There is no case none in this run.')")


def test_filters_of_a_turn_speak_of_one_turn(browser: Browser, report: str) -> None:
    show(browser, report)
    browser.choose("select[name=event]", "misled")
    browser.choose("select[name=role]", "debater_b")
    assert texts(browser, "#status") == ["1 of 8 cases"]
    browser.choose("select[name=round]", "3")
    assert texts(browser, "#status") == ["0 of 8 cases"]
    assert texts(browser, "#list .empty") == ["No case is like that. Clear the filters to see all."]
    browser.click("#clear")
    browser.wait_for("document.querySelector('#status').textContent === '8 cases'")
    browser.choose("select[name=outcome]", "contested")
    assert texts(browser, ".entry div:first-child") == [KINDS["judged"][0]]


def test_search_finds_what_was_said(browser: Browser, report: str) -> None:
    show(browser, report)
    browser.press("/")
    assert browser.run("document.activeElement.id") == "search"
    for letter in "RATHER":
        browser.press(letter)
    browser.wait_for("document.querySelector('#status').textContent === '1 of 8 cases'")
    assert texts(browser, ".entry div:first-child") == [KINDS["unparsed"][0]]
    assert browser.run("location.hash") == "#text=RATHER"


def test_the_keyboard_goes_through_the_list(browser: Browser, report: str) -> None:
    show(browser, report)
    questions = [question for question, *_ in KINDS.values()]
    for key, expected in [("j", 1), ("j", 2), ("k", 1)]:
        browser.press(key)
        browser.wait_for(f"document.querySelector('#case .question').textContent === {questions[expected]!r}")
    browser.run("document.querySelector('#list').focus()")
    browser.press("ArrowDown")
    browser.wait_for(f"document.querySelector('#case .question').textContent === {questions[2]!r}")
    assert browser.run("document.querySelector('[aria-selected=true]').id === "
                       "document.querySelector('#list').getAttribute('aria-activedescendant')")  # fmt: skip


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_a_phone(browser: Browser, report: str, dark: bool) -> None:
    show(browser, report, PHONE, dark=dark)
    assert browser.run("document.documentElement.scrollWidth") == PHONE[0]
    browser.click(".entry")
    browser.wait_for("document.body.classList.contains('reading')")
    opened(browser)
    assert browser.run("document.querySelector('#case').scrollWidth") <= PHONE[0]
    browser.click("#case .back")
    assert not browser.run("document.body.classList.contains('reading')")
    paper = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(23, 23, 21)") is dark


CONTRAST = """(() => {
  const parse = (text) => text.match(/[0-9.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility()) continue;
    if (e.closest('script, style, noscript, option, button:disabled, .skip')) continue;
    const style = getComputedStyle(e);
    const colour = parse(e.closest('svg') ? style.fill : style.color);
    const [a, b] = [light(colour), light(behind(e.closest('svg') ? e.closest('svg').parentElement : e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(`${e.tagName}.${e.className.baseVal ?? e.className} ${ratio.toFixed(2)}`);
  }
  return [...new Set(poor)];
})()"""


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("kind", ["corrected", "unparsed", "judged"])
def test_texts_can_be_read_and_controls_have_names(browser: Browser, report: str, kind: str, dark: bool) -> None:
    show(browser, report + address(kind), dark=dark)
    opened(browser)
    browser.run("document.querySelectorAll('details').forEach((e) => { e.open = true })")
    assert browser.run(CONTRAST) == []
    nameless = browser.run(
        "[...document.querySelectorAll('input, select, button, a, [role=region], [role=listbox], svg, img')]"
        ".filter((e) => !(e.getAttribute('aria-label') || e.alt || e.labels?.length || e.textContent.trim()))"
        ".map((e) => e.outerHTML)"
    )
    assert nameless == []
    assert browser.run("document.querySelectorAll('[id]').length === new Set([...document.querySelectorAll('[id]')]"
                       ".map((e) => e.id)).size")  # fmt: skip


def test_a_list_of_thousands_keeps_few_rows_in_the_page(browser: Browser, runs: list[Run], tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.mkdir()
    (large / "run.json").write_bytes((runs[1].folder / "run.json").read_bytes())
    record = next(iter(runs[1].records()))
    with (large / "records.jsonl").open("w", encoding="utf-8") as file:
        for number in range(3000):
            file.write(record.model_copy(update={"case_id": f"case/{number}"}).model_dump_json() + "\n")
    show(browser, write_report([Run(large)], tmp_path / "large.html").as_uri())
    assert browser.run("document.querySelectorAll('.entry').length") < 60
    browser.run("document.querySelector('#list').scrollTop = 1e9")
    browser.wait_for("document.querySelector('#row-2999') && !document.querySelector('#row-0')")
    assert browser.run("document.querySelectorAll('.entry').length") < 60
    browser.click("#row-2999")
    browser.wait_for("location.hash === '#case=case%2F2999'")


def test_the_served_page_does_the_same(browser: Browser, runs: list[Run]) -> None:
    with serve_run(runs[0]) as server:
        show(browser, server.url + address("corrected"))
        assert opened(browser) == KINDS["corrected"][0]
        picture = "document.querySelector('.picture img')"
        assert browser.wait_for(f"{picture}?.complete && {picture}.naturalWidth") == 384
        browser.run("document.querySelector('#search').value = 'snake'")
        browser.run("document.querySelector('#search').dispatchEvent(new Event('input'))")
        browser.wait_for("document.querySelector('#status').textContent === '1 of 8 cases'")
        assert all(request.startswith((server.url, "data:", "about:")) for request in browser.requests)
