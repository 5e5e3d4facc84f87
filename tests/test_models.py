"""Models are built when they are first used, since most never are; whichever of many threads comes first."""

import json
import subprocess
import sys

PROGRAM = """
import json, threading
import webapp.app, webapp.sandbox.app
from pydantic import BaseModel, ValidationError

def below(model):
    return {model}.union(*map(below, model.__subclasses__()))

models = sorted((m for m in below(BaseModel) if m.__module__.startswith("webapp.")), key=str)
generic = {model for model in models if model.__pydantic_generic_metadata__["parameters"]}  # made whole by their uses
built = [str(model) for model in models if model.__pydantic_complete__ and model not in generic]
together, outcomes = threading.Barrier(8), [set() for _ in models]

def use():
    for model, outcome in zip(models, outcomes):
        together.wait()
        try:
            outcome.add(repr(model.model_validate({})))
        except ValidationError as error:
            outcome.add(str(error))
        except Exception as error:
            outcome.add(f"{model} cannot be used: {error}")

threads = [threading.Thread(target=use) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
wrong = [sorted(outcome) for outcome in outcomes if len(outcome) != 1 or "cannot be used" in min(outcome)]
print(json.dumps({"count": len(models), "built": built, "wrong": wrong}))
"""


def test_no_model_is_built_before_it_is_used_and_all_threads_then_get_the_same() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["count"] > 200
    assert (result["built"], result["wrong"]) == ([], [])
