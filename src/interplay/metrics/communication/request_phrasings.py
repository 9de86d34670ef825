"""Ways to ask, told apart by their grammar, each put into an imperative with `please`, which the rules read.

A wish with an infinitive (`I'd like you to cut it`), something good under a condition (`it would help if you cut it`),
a clause of what is best (`my suggestion is that you cut it`), a question about ability or will (`do you think you can
cut it?`), a passive (`could it be cut?`), a task that is somebody's (`it is your job to cut it`), a gerund of which
something good is said, and a verb that stands for what was told before (`the corn has to be cut; could you do that?`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from interplay.metrics.communication.kitchen_words import GERUNDS, PARTICIPLES, PHRASES, PUT

_LIGHT = {
    "start", "begin", "initiate", "commence", "go", "proceed", "continue", "turn", "switch", "use", "have", "do",
    "finish", "kick", "activate", "run", "operate", "help", "make",
}  # fmt: skip
_PAST = PARTICIPLES | {
    "fetched": "fetch", "collected": "collect", "retrieved": "retrieve", "took": "take", "taken": "take", "got": "get",
    "removed": "remove", "handed": "hand", "gave": "give", "given": "give", "sent": "send", "left": "leave",
    "dropped": "drop", "loaded": "load", "inserted": "insert", "carried": "carry", "returned": "return", "laid": "lay",
    "roasted": "roast", "simmered": "simmer", "mixed": "mix", "prepared": "prepare", "started": "start",
    "began": "begin", "turned": "turn", "switched": "switch", "set": "set", "tossed": "toss", "kept": "keep",
}  # fmt: skip


def _choice(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_VERB = _choice({phrase[0] for phrase in PHRASES} - {"wait", "hold", "stay", "stand"} | _LIGHT)
_DONE = _choice(_PAST)
_PUTS = _choice(phrase[0] for phrase, meaning in PHRASES.items() if meaning in (PUT, "put_obj_in_utensil"))
_ADVERBS = r"(?:(?:please|just|first|now|also|already|kindly|quickly|then|simply|only|perhaps|maybe|possibly|next) )*"
_GOOD = (
    r"(?:great|good|nice|helpful|best|better|ideal|perfect|lovely|wonderful|awesome|grateful|thankful|glad|happy|fine|"
    r"obliged|alright|okay|appreciated?|helps?|love|wonder(?:ing|ful)?|useful|easier|faster|quicker|handy|kind|brilliant|fantastic)"
)
_NO_NOUN = (
    r"(?!(?:i|you|we|so|if|once|when|that|which|who|could|can|should|would|will|may|must|please|not|but|"
    r"to|is|are|was|be)\b)"
)
_THING = rf"(?:both )?(?:(?:the|an?|one|some|this|those|these|your|our) )?{_NO_NOUN}[\w~]+(?: {_NO_NOUN}[\w~]+){{0,6}}?"
_MUST_BE = (
    r"(?:should|must|can|could|may|(?:still |now |also )?(?:needs?|has|have|ought|is|are) to) (?:now |"
    r"also |then |first |please )*be"
)
_SUBORDINATE = r"(?:^| )(?:if|when|once|after|because|while|since|until|unless|before|whether|as soon as|in case)\b"
_NEGATED = (
    r"\b(?:not|never|no|nobody|without|\w+n't|rather than|instead of|forbid|unnecessary|pointless|stop|wait(?:ing)?)\b"
)
_REPORTED = (
    r"\b(?:asked|told|wanted|instructed|requested|said|meant|got|reminded|ordered|see|seen|saw|thanks?|"
    r"allow\w*|enabl\w*|permit\w*|lets?|ready|able|"
    r"was going to|were going to|i(?:'ll| will| can| may| might| could)(?! need\b)|let me know)\b"
)
_FOR_YOU = (
    r"(?:\bit(?:'s|'d| is| makes| would| might| could| seems)\b(?![^,:;]*\b(?:ready|there|here|on|waiting)\b)[^,:;]*|"
    r"\b(?:step|turn|left|remains|thing|task|move|action|job|part|plan)\b[^,:;]{0,20}?(?:\bis|'s|\bbe)|"
    r"\bpossible|\btime|"
    rf"\b(?:like|love|prefer)|\bbe (?:\w+ )?{_GOOD}) for $"
)

# Only from where a part of a sentence begins, and where there is an "if" in it: a model that repeats itself for a
# thousand letters would else be read for minutes.
_BEFORE_IF = r"(?:^|(?<=[,:;]))(?=[^,:;]*\bif )[^,:;]*"
_CONDITION = re.compile(
    rf"{_BEFORE_IF}\b(?:would|'d|will|is|be|i'm|am|could|it)\b[^,:;]*\b{_GOOD}\b[^,:;]*?\bif you (?:could |can |"
    rf"would |will |were to )?"
    rf"{_ADVERBS}(?P<verb>{_VERB}|{_DONE})\b(?P<rest>.*)"
)
_PASSIVE_CONDITION = re.compile(
    rf"{_BEFORE_IF}\b{_GOOD}\b[^,:;]*?\bif (?P<thing>{_THING}) (?:were|was|is|are|gets?|got|could be|can be|would be) "
    rf"(?P<verb>{_DONE})\b(?P<rest>.*)"
)
_BEST_THAT = re.compile(
    r"[^,:;]*\b(?:suggestion|suggest|recommend|propose|proposal|important|essential|crucial|vital|best|better|"
    r"advice|advise|"
    r"idea|insist|necessary|imperative|critical|prefer|wish|plan|request|required|hope|hoping|hoped|chance|think|"
    r"wonder|"
    rf"wondering|sure|count on it|appreciate it|believe|reckon)\b(?: is| was| would be| it)?:?(?: that| if| whether)? "
    rf"you (?:should |could |can |would |will |might |may |'d )?(?:be able to )?{_ADVERBS}(?={_VERB}\b)"
)
_TASK = re.compile(
    r"\b(?:it(?:'s| is|'ll be| will be) )?(?P<whose>your|the \w+'s|\w+'s) (?:\w+ )?(?:task|job|role|part|turn|"
    r"responsibility|duty|"
    r"step|action|move|assignment|work|goal)s?(?: now| next| here)?(?: is| are| will be| would be|"
    r" should be)?:? (?:for you )?to "
    rf"(?={_ADVERBS}(?:{_VERB})\b)"
)
_START = r"(?:^|(?<=[,:;] ))(?:(?:so|and|then|now|next|also),? )*"
_PASSIVE_QUESTION = re.compile(
    rf"{_START}(?:can|could|would|will|may|might) (?P<thing>{_THING}) (?:please |now )*"
    rf"be (?:now )?(?P<verb>{_DONE})\b(?P<rest>.*)"
)
_PASSIVE = re.compile(rf"{_START}(?P<thing>{_THING}) {_MUST_BE} (?:now )?(?P<verb>{_DONE})\b(?P<rest>.*)")
_IS_TO = re.compile(
    r"\b(you|the \w+)(?: are|'re| is|'ve got| have got| ought|'d better| had better)(?: also| now| only)*"
    rf"(?: supposed| meant| expected| required)?(?: to)? (?=(?:{_VERB})\b)(?<=to |er )"
)
_CLEFT = re.compile(
    rf"^it(?:'s| is) (?P<thing>{_THING}) (?:that |which )?(?:i|we)(?: want| need|'d like| would like)"
    rf"(?: you)? to (?P<verb>{_VERB})\b(?P<rest>.*)"
)
_ASKED_FOR = re.compile(
    r"[^,:;]*\bi(?:'m|'d| am| would| must)?(?: kindly)? (?:ask(?:ing)?|request(?:ing)?|like|suggest|recommend|"
    r"propose|prefer|insist)"
    rf"(?: that| for)? (?P<thing>{_THING}) (?:to )?be (?P<verb>{_DONE})\b(?P<rest>.*)"
)
_EMPHATIC = re.compile(
    rf"(?:^|(?<=[,:;] )|(?<=\band )|(?<=\bthen )|(?<=\bbut ))do (?={_choice({phrase[0] for phrase in PHRASES})}\b)"
)
_ALL_YOU_DO = re.compile(
    r"[^,:;]*\b(?:all(?: that)?|the only thing(?: that)?|what) (?:you (?:still |only |now )*(?:(?:have|need|got|"
    r"ought) to|can|could|should|must|may|might) do|(?:i|we)(?:'d| would)? (?:need|want|ask|like|expect|wish)"
    rf"(?: of you| from you| you to do)?|remains|is left|'s left|is needed)(?: for you)?(?: now| next|"
    rf" here)? is (?:for you )?(?:to )?(?={_VERB}\b|(?P<doing>(?:{_choice(GERUNDS)})\b))"
)
_IN_YOUR_PLACE = re.compile(
    rf"[^,:;]*\bif i were you,? i(?:'d| would) (?={_ADVERBS}(?:{_VERB})\b)|\bin your (?:place|position),? i(?:'d|"
    rf" would) "
)
_NOT_ONLY = re.compile(
    r"\b(?:you )?(?:don't|do not|not) (?:only|just|merely) (?:(?:have|need) to )?(?=\w+.*\bbut (?:also|then)\b)"
)
_TROUBLE_FOR = re.compile(r"^(?:can|could|may|might) (?:i|we) (?:trouble|bother|ask|pester) you for ")
_MIND = re.compile(r"[^,:;]*\byou (?:don't|do not|wouldn't|won't|would not) mind (?=\w+ing\b)")
_GOOD_GERUND = re.compile(
    rf"{_START}(?P<act>(?:{_choice(GERUNDS)})\b[^,]*?),? (?:would|will|might|could|should|must|is|sounds?|comes?)"
    rf" (?:be |like )?(?:an? |the |your |very |really |"
    rf"most )*(?:\w+ )?(?:{_GOOD}|all (?:that(?:'s| is) left|"
    rf"that remains|that's missing|you|i need|i ask|i want)|what i(?:'d)? (?:need|want|ask|like)|next|"
    rf"first (?:move|step|task|thing|job)|priority|welcome|in order|up to you|"
    rf"your (?:job|task|part|turn))\b.*"
)
_RELATIVE = re.compile(
    r"(?<! once)(?<! after)(?<! when)(?<! as)(?<! since)(?<! if)(?<! because)(?<! and)(?<! now that)(?<! so)(?<! until)"
    r"(?: (?:that|which) (?:i|you|we)(?:'ve| have|'d| had)?| (?:i|we)(?:'ve| have|'d| had)?| you(?:'ve| have|'d| had)) "
    rf"(?:just |already |also )?(?:{_DONE}|put)\b[^,:;]*?"
    r"(?= (?:into|onto) (?:the )?(?:pot|oven|blender|board|chopping|cutting|counter))"
)
_YOU_ARE_DOING = re.compile(
    r"(\bi(?:'m| am) \w+ing\b[^.]*?[,;]|^|: )(?: and| but)? you(?:'re| are) (?:now )?(?=(?:getting|fetching)\b)"
)
_GO_INTO = re.compile(
    rf"{_START}(?P<thing>{_THING}) (?P<modal>can|could|should|may|must|needs? to|has to|have to|ought to)"
    rf" (?:now |then |also )?go "
    r"(?P<where>(?:straight |right |back )?(?:in|into|on|onto|to) .*)"
)

_DO_SO = re.compile(
    r"\b(?:do (?:so|that|it|this|both)|take care of (?:that|it|this|them)|see to (?:that|it)|get (?:that|it|this) done|"
    r"handle (?:that|it|this)|make (?:that|it) happen|please do|which you (?:should|can|could|may|must) do|"
    r"you should|you do|go ahead)(?P<when>(?: now|"
    r" first| next| then| too| "
    r"yourself| immediately| right away| as soon as (?:possible|you can)| asap|"
    r" quickly| for me| please)*)(?=$| and )"
)
_WOULD_YOU = re.compile(r"(?:would|could|can|will) you(?: please| do (?:that|it|so))*")
_TOLD = (
    re.compile(rf"(?:^|, |: |but |and |so )(?P<thing>{_THING}) {_MUST_BE} (?:now )?(?P<verb>{_DONE})\b(?P<rest>.*)"),
    re.compile(
        r"\byou(?:'re| are| were|'ve been| have been| had been) (?:supposed|asked|told|meant|to)(?: to)? "
        rf"(?P<verb>{_VERB})\b(?P<rest>.*)"
    ),
    re.compile(
        r"\byou(?: still)? (?:haven't|have not|didn't|did not|have yet to|have still to)(?: yet)? "
        rf"(?P<verb>{_DONE}|{_VERB})\b(?P<rest>.*)"
    ),
    re.compile(
        rf"^(?:have|did|has|had) (?:you|the \w+|anybody|somebody) (?:already |yet )?(?P<verb>{_DONE}|{_VERB})"
        rf"\b(?P<rest>.*)"
    ),
    re.compile(
        r"\b(?:somebody|someone|anybody|one of us|either of us|we|you)(?:'ll)? (?:still )?(?:has to|have to|"
        r"needs? to|must|should|can|could|"
        r"will have to) "
        rf"(?P<verb>{_VERB})\b(?P<rest>.*)"
    ),
    re.compile(rf"\b(?:thing|step|task|job)(?: to do)?(?: now| next)? is (?:to )?(?P<verb>{_VERB})\b(?P<rest>.*)"),
    re.compile(rf"\b(?:whether|if|either) i (?:should )?(?P<verb>{_VERB})\b(?P<rest>.*?) or you\b"),
    re.compile(
        rf"\b(?:as soon as|once|when|after|until|till) you(?:'ve| have)? (?P<verb>{_DONE}|{_VERB})\b(?P<rest>.*)"
    ),
    re.compile(
        rf"\bi(?:'d)? (?:need|want|like|wanted) (?:to have )?(?P<thing>{_THING}) (?P<verb>{_DONE})\b(?P<rest>.*)"
    ),
    re.compile(rf"\bto have (?P<thing>{_THING})(?P<verb>)(?P<rest> on the counter)\b"),
)
_END = re.compile(
    r"(?:,| so\b| before\b| because\b| since\b| until\b| when\b| once\b| yet\b| already\b| by the time\b| but\b).*"
)


def as_imperative(sentence: str, *, question: bool) -> str:
    """Return a sentence, in lower case, with what it asks for as an imperative; others come back as they were."""
    sentence = re.sub(r", which [^,]*,", "", sentence)
    if found := _CLEFT.search(sentence):
        return "please " + _act(found)
    sentence = _wishes(_RELATIVE.sub(_without_relative, sentence))
    sentence = re.sub(
        rf"\b(?:and|but|,) (?:it is |it's )?(?:on|for|up to) me to (?=(?:{_VERB})\b)", ", i will ", sentence
    )
    sentence = _YOU_ARE_DOING.sub(r"\1 please start ", sentence)
    sentence = _MIND.sub("please start ", sentence)
    if _NOT_ONLY.search(sentence):
        sentence = _with_infinitives(re.sub(r"\bbut (?:also|then)\b", "and", _NOT_ONLY.sub("please ", sentence)))
    sentence = _ALL_YOU_DO.sub(
        lambda m: "please start " if m["doing"] else "please ",
        _IN_YOUR_PLACE.sub("please ", _TROUBLE_FOR.sub("please bring ", sentence)),
    )
    sentence = _TASK.sub(
        lambda m: "please " if m["whose"] == "your" else f"{m['whose'].removesuffix(chr(39) + 's')} should ", sentence
    )
    if (best := _BEST_THAT.search(sentence)) and _asks(re.sub(r" (?:if|whether) you .*", "", best[0])):
        sentence = _with_infinitives(f"{sentence[: best.start()]}please {sentence[best.end() :]}")
    sentence = _IS_TO.sub(r"\1 should ", _EMPHATIC.sub("please ", sentence))
    sentence = re.sub(
        r"^(?:is|would) it (?:be )?possible to (?=\w)|\b(?:do not|don't|never) fail to\b", "please ", sentence
    )
    for frame in (_CONDITION, _PASSIVE_CONDITION, _ASKED_FOR):
        if (found := frame.search(sentence)) and not re.search(_NEGATED, found[0].partition(" if ")[0]):
            return sentence[: found.start()] + "please " + _act(found)
    if question and (found := _PASSIVE_QUESTION.search(sentence)):
        return f"{sentence[: found.start()]} please {_act(found)}"
    if "please" in sentence and not re.search(r"\b(?:so|and|but|then),? please (?!start|begin|do\b)", sentence):
        plain = re.sub(r",? ?\bplease\b,?", "", sentence).strip()
        if found := _PASSIVE.search(plain):
            return f"{plain[: found.start()]} please {_act(found)}"
    if (found := _GO_INTO.search(sentence)) and ("please" in sentence or found["modal"] in ("can", "could", "may")):
        return f"{sentence[: found.start()]} please put {found['thing']} {found['where']}"
    if (found := _GOOD_GERUND.search(sentence)) and not re.search(_NEGATED, found[0]):
        return f"{sentence[: found.start()]} please start {found['act']}"
    return sentence


def with_its_antecedent(sentence: str, told: str | None) -> str:
    """Return a sentence with the act for which `do so` stands, if one was told before."""
    if told is not None and _WOULD_YOU.fullmatch(sentence):
        return f"please {told}"
    found = _DO_SO.search(sentence)
    if found is None:
        return sentence
    here = act_told_of(sentence[: found.start()])
    act = here or told
    before = re.split(r"[,:;]", sentence[: found.start()])[-1]
    before = re.sub(r"\bi(?:'d)? (?:think|guess|say|suggest|suppose|believe)\b", "", before)
    if act is None or re.search(_SUBORDINATE, before) or re.search(rf"{_NEGATED}|\bi\b|\bwe\b", before):
        return sentence
    return f"{sentence[: found.start()]}please {act}{found['when']}{sentence[found.end() :]}"


def act_told_of(sentence: str) -> str | None:
    """Return, as an imperative, the act that a statement or question speaks of as not done yet: None if none."""
    for pattern in _TOLD:
        found = pattern.search(sentence)
        if found is not None:
            return _END.sub("", _act(found)).strip()
    return None


def _act(found: re.Match[str]) -> str:
    """The imperative of a match: its verb, its thing, and the rest with participles as verbs."""
    groups = found.groupdict()
    thing = groups.get("thing") or ""
    thing = {"they": "them", "these": "them"}.get(thing, thing)
    verb = _PAST.get(groups["verb"], groups["verb"]) if groups["verb"] else "put"
    rest = groups["rest"].removeprefix(" up") if verb == "pick up" else groups["rest"]
    rest = re.sub(rf"\b(and|or|then|and then|,) (?:be )?({_DONE})\b(?! up)", lambda m: f"{m[1]} {_PAST[m[2]]}", rest)
    return f"{verb} {thing}{rest}" if thing else f"{verb}{rest}"


def _without_relative(found: re.Match[str]) -> str:
    """`Put the egg that I left there into the pot` without its relative clause; others as they were."""
    clause = re.split(r"[,:;]|\b(?:once|when|after|if|until)\b", found.string[: found.start()])[-1]
    return "" if re.search(rf"\b(?:{_PUTS})\b", clause) else found[0]


def _wishes(sentence: str) -> str:
    """Put `I'd like you to cut it and to bake it` into imperatives."""
    at = 0
    while (found := re.compile(rf"\byou (?:both )?to (?={_ADVERBS}(?:{_VERB})\b)").search(sentence, at)) is not None:
        before = sentence[: found.start()]
        start = max(
            before.rfind(mark) + len(mark) if mark in before else 0
            for mark in (",", ":", ";", " so ", " and ", " but ", " because ", " since ")
        )
        if _asks(before[start:]) and (not before.endswith("for ") or re.search(_FOR_YOU, before)):
            sentence = _with_infinitives(f"{before[:start]} please {sentence[found.end() :]}".strip())
        at = found.end()
    return sentence


def _asks(before: str) -> bool:
    """Whether the words before a wish leave it one: no condition, negation or report."""
    return not any(re.search(pattern, before) for pattern in (_SUBORDINATE, _NEGATED, _REPORTED))


def _with_infinitives(sentence: str) -> str:
    return re.sub(rf"\b(and|then|or|,) to (?=(?:{_VERB})\b)", r"\1 ", sentence)
