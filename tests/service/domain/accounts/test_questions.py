"""What is kept while a person is asked: the question, and the grant with the life that it has left."""

import json
from dataclasses import asdict

from webapp.kit.clock import MINUTE
from webapp.service.domain.accounts.questions import AGAIN, SITE, Question, grant_of, kept_grant
from webapp.service.outbound.oauth import TokenResult


def test_a_question_admits_what_it_offers() -> None:
    again, site = Question(AGAIN, "ada", (("apn_1", "ada"),)), Question(SITE, "Jira", (("https://a", "https://a"),))
    assert Question.of(json.loads(json.dumps(asdict(again)))) == again
    assert [again.admits(answer) for answer in ("apn_1", "both", "apn_2", "")] == [True, True, False, False]
    assert [site.admits(answer) for answer in ("https://a", "both")] == [True, False]


def test_a_grant_grows_older_while_its_person_thinks() -> None:
    result = TokenResult("access", "refresh", 3600, ("read",), "bearer", {"workspace": "Acme"})
    kept = json.loads(json.dumps(kept_grant(result, now=0)))
    assert grant_of(kept, now=0) == result
    assert grant_of(kept, now=10 * MINUTE).expires_in == 3000
    assert grant_of(kept, now=90 * MINUTE).expires_in == 1
    endless = TokenResult("access", None, None, None, "bearer", {})
    assert grant_of(json.loads(json.dumps(kept_grant(endless, now=0))), now=MINUTE) == endless
