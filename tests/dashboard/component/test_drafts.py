"""Drafts: one for each person and component, bounded in size; a word starts one run."""

from typing import Any

from webapp.dashboard.component import drafts
from webapp.dashboard.component.drafts import DynamicProps
from webapp.kit.clock import DAY


def test_kept_and_replaced(stage: Any) -> None:
    store, clock, me = stage.store, stage.clock, stage.alice.id
    assert drafts.load(store, me, "a") == drafts.Draft()
    dynamic = DynamicProps("dyp_1", ({"name": "x", "type": "string"},), "digest")
    assert drafts.save(store, clock, me, "a", {"p.x": ["1"]}, DynamicProps())
    assert drafts.save(store, clock, me, "a", {"p.x": ["2", "ü"]}, dynamic)
    assert drafts.load(store, me, "a") == drafts.Draft({"p.x": ["2", "ü"]}, dynamic, clock())
    assert drafts.load(store, me, "b") == drafts.load(store, "u_other", "a") == drafts.Draft()
    drafts.drop(store, me, "a")
    assert drafts.load(store, me, "a") == drafts.Draft()


def test_what_is_too_large_leaves_the_one_before(stage: Any) -> None:
    store, clock, me = stage.store, stage.clock, stage.alice.id
    drafts.save(store, clock, me, "a", {"p.x": ["small"]}, DynamicProps())
    assert not drafts.save(store, clock, me, "a", {"p.x": ["x" * drafts.MAX_BYTES]}, DynamicProps())
    assert drafts.load(store, me, "a").fields == {"p.x": ["small"]}


def test_a_word_starts_one_run(stage: Any) -> None:
    store, clock, me = stage.store, stage.clock, stage.alice.id
    assert drafts.claim_run(store, clock, me, "w")
    assert not drafts.claim_run(store, clock, me, "w")
    clock.advance(2 * DAY)
    assert drafts.claim_run(store, clock, me, "other")
    assert len(store.all("SELECT once FROM viewer_runs_sent")) == 1
