"""What a person says to an investigation that waits for a larger budget, as a fact of its run."""

from pydantic import BaseModel, Field

from tocsin_contracts import Amounts, BudgetExhausted, BudgetExtended, RunState
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.run_view import Run


class BudgetAnswer(BaseModel):
    """So much more; or nothing more, then the investigation ends with what it has."""

    granted: bool = True
    amounts: Amounts = Amounts()
    reason: str = Field(default="", max_length=1000)


def answered(run: Run, answer: BudgetAnswer, by: str) -> BudgetExtended:
    """Return the fact of an answer; RefusedError if the run waits for none, or nothing is given."""
    asked, told = run.fact(BudgetExhausted), run.fact(BudgetExtended)
    waits = asked is not None and run.state is RunState.INVESTIGATING
    if asked is None or not waits or (told is not None and told.answers == asked.id):
        raise RefusedError(
            409, "the run waits for no larger budget", "`tocsin run show` says how it stands"
        )
    if answer.granted and answer.amounts == Amounts():
        raise RefusedError(422, "nothing is given", "give an amount, or say granted: false")
    event = BudgetExtended(
        run_id=run.id,
        by=by,
        surface="gateway",
        granted=answer.granted,
        amounts=answer.amounts,
        reason=answer.reason,
        answers=asked.id,
    )
    unique = f"{asked.id}:{by}:{event.at.isoformat()}"
    return event.caused_by(unique, "gateway").model_copy(update={"cause": ""})
