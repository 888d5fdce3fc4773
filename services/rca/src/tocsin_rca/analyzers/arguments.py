"""Programs that start and refuse their arguments, and scripts with an error in their syntax."""

import re

from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.hearing import Saying, findings
from tocsin_rca.evidence.remedy import with_remedy
from tocsin_rca.evidence.starting import closed
from tocsin_rca.evidence.undoing import changes, is_start, undo

_FLAGS = re.compile(
    r"(?i)unknown (?:shorthand )?flag\b|flag provided but not defined|flag needs an argument"
    r"|unrecogni[sz]ed (?:arguments?|option|command[- ]line|flag|VM option)"
    r"|(?:invalid|illegal|unknown|bad|unsupported) option\b(?! name)|no such option"
    r"|(?<!ERR )unknown (?:command|argument|switch)\b|unexpected argument"
    r"|invalid argument \S{1,80} for"
    r"|found argument .{1,80} which wasn't expected|arguments are required|missing required arg"
    r"|required flag\(?s?\)? |invalid value .{1,80} for (?:flag|option|'?--?\w)|unknown variable '"
    r"|option requires an argument|too (?:many|few) arguments|wrong number of arguments"
    r"|Could not create the Java Virtual Machine|Invalid maximum heap size"
    r"|Invalid initial heap size"
    r"|Error parsing commandline|error: unexpected extra argument"
)
_SYNTAX = re.compile(
    r"(?i)\bsyntax error(?: near|:| in|,| \()|\bsyntax error\b.{0,20}unexpected"
    r"|unexpected EOF while"
    r"|unterminated quoted string|unary operator expected"
    r"|File \"<string>\", line \d{1,5}[^\n]{0,20}\n[^\n]{0,200}\n[^\n]{0,200}\n?SyntaxError"
)
_STRAY = re.compile(r"(?i)unexpected (?:token )?[\"'`(]{0,2}(?P<word>fi|done|esac)\b")


class Arguments:
    """The log refuses a flag, an option or the script that the container is started with."""

    name = "arguments"
    needs = "What the program says: its logs, else how its containers ended, checks and the alert."
    proof = (
        "The program refuses a flag, an option or the number of its arguments, or its script has "
        "an error in its syntax."
    )
    against = (
        "A line that is calm about it, such as one of level info, and words about another object "
        "nearby."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; a commit that changed the arguments is undone."""
        found = findings(
            case,
            Saying(
                CauseClass.CONTAINER_ARGS_INVALID,
                _FLAGS,
                0.92,
                "{who} refuses its arguments: {said}",
            ),
            Saying(
                CauseClass.CONTAINER_ARGS_INVALID,
                _SYNTAX,
                0.9,
                "The script that {who} runs cannot be read: {said}",
            ),
        )
        return tuple(_with_change(case, finding) for finding in found)


def _with_change(case: Case, finding: Finding) -> Finding:
    for change in changes(case, is_start):
        if edit := undo(case, change):
            update = {
                "change": edit,
                "confidence": min(0.96, round(finding.confidence + 0.04, 2)),
                "because": f"{change.told} changed it; this undoes that.",
                "evidence": (*finding.evidence, change.seen.id),
            }
            return finding.model_copy(update=update)
    word = _STRAY.search(finding.summary)
    return with_remedy(finding, closed(case, word["word"]) if word else None)
