"""Idioms that ask, put into the words that the rules know: `turn on the oven` is `bake in the oven`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from interplay.metrics.communication.kitchen_words import PARTICIPLES

_UTENSIL_ACTS = {"oven": "bake", "pot": "cook", "blender": "stir"}
_TURN_ON = "start|turn on|switch on|activate|fire up|power on|run|operate"
_MODALS = "could|can|should|must|may|needs? to|has to|have to"
_EVALUATED = (
    "good|great|best|better|ideal|perfect|nice|right|wise|wiser|smart|sensible|helpful|useful|handy|fine|safe|"
    "makes sense|sense|efficient|quicker|faster|necessary|essential|important|crucial"
)
_PREPARED = "|".join(sorted(PARTICIPLES))
_DOING = r"(?=(?!bring\b)\w+ing\b)"

# Idioms that ask, in the words that the rules know.
_REWRITES: Sequence[tuple[str, str | Callable[[re.Match[str]], str]]] = (
    (r"\b(?:that |which )?(?:i am|i'm|you are|you're) (?:currently |now |still )?(?:holding|carrying)\b", ""),
    (r"\b(?:make sure|ensure)(?: that)? you(?:'re| are) (?=\w+ing\b)", "please start "),
    (r"\b(?:pls|plz)\b", "please"),
    (r"\b(?:first|second|third) of all\b", "then"),
    (r"^(?:(?:no|oops|sorry|well),? )*(?:what )?i mea(?:nt|n)(?: to say| was| is)?[,:]? (?=\w)", ""),
    (r"\b(it|them)\b([^,]*), (the [\w~ ]+?),? (?:i mean|that is)\b.*", r"\3\2"),
    (r"\bwhat (?:i'm going to do|i'll do|i will do|i do|i am going to do)(?: now| next)? is (?:to )?", "i will "),
    (r"\b(?:give|allow|leave|grant) me (?:a |some |the |enough |just )*(?:moment|time|second|minute|chance|while|turn)"
     r"s? to\b", "i will"),
    *((rf"\b(?:press|hit|push|flip|trigger)(?: the)?(?: start| on| power)?(?: button| switch)? (?:on|of) (?:the )?"
       rf"{utensil}\d?\b", f"{verb} in the {utensil}") for utensil, verb in _UTENSIL_ACTS.items()),
    (r"\bthe (\w+ing)((?: process| step| of [\w~ ]+?)*) (?:can|may|should|must|could|might|has to|needs to)"
     r"(?: now| then)? (?:begin|start|commence)\b", r"please start the \1\2"),
    (r"\bget(?:ting)? the (\w+ing)((?: process| step| of [\w~ ]+?)*?)((?: in (?:the )?\w+)?) (?:going|started|"
     r"underway|under way|in motion)\b", r"start the \1\2\3"),
    (r"\blet the (\w+ing) (of [\w~ ]+? )(?:begin|start|commence)\b", r"please start the \1 \2"),
    (r"\bthe (?:process|job|task|work|step) of (?=\w+ing\b)", ""),
    (r"\byour (?:\w+ )?(?:focus|priority|goal|attention|effort)s?(?: now)?"
     r" (?:is|are|should be|must be|will be|lies|should lie)(?: now)? (?:on|with|in|to) (?=\w+ing\b)",
     "please start "),
    (rf"\b(?:it|this|that|now|here|next)(?:'s|'d| is| was| would| might| could| makes| seems)(?: now| also| be)* "
     rf"(?:an? |the |about |very |really |so |more |high |{_EVALUATED} )*(?:{_EVALUATED}|time|turn|moment)"
     rf"(?: time| moment| idea| move| plan| thing| point| step| sense)?(?: now| here| then)?(?: for you)? to "
     rf"(?=(?!know|see|hear|have)\w|have (?:it|them|(?:the|an?|both) [\w~ ]+?) (?:{_PREPARED})\b)", "please "),
    (r"\b(?:the |your )?(?:next |remaining |other |first |last )*(?:thing|task|job|step|item|point|action)s?"
     r" (?:on|for|in) (?:your (?:list|agenda|plan|side|end|plate)|you)(?: now| next)?(?: is| are| will be|:)"
     r" (?=\w+ing\b)", "please start "),
    (r"\byour (turn|job|part|task)s?(?: now| next| then)?: (?=\w+ing\b)", "please start "),
    (r"\bis (?:now |still |just |only )*for you to\b", "is: please"),
    (r"\bis (?:now |still |just |only )*for me to\b", "is: i will"),
    (r"\s*(?:->|=>|→)\s*", ", then "),
    (r"\b(?:things?|steps?|tasks?|jobs?|actions?)(?: that| which)?(?: are| is|'s)? (?:left|remaining|missing|to do|"
     r"to be done|open)(?: for you)?(?: now)?: (?=\w+ing\b)", "please start "),
    (r"\b(?:leave|let) ((?:the|that|this) [\w~ ]+?|it|them) (?:alone|be|lie|lying|aside|out of it)\b",
     r"don't touch \1,"),
    (r"^(?:(?:and|so|just|please|but|actually),? )*leave (?:it|them|that|the [\w~]+)(?=$|(,) |( and) (?:cut|slice|bake|"
     r"boil|cook|get|fetch|take|pick|bring)\b)", "don't touch it,"),
    (r"\bget ((?:the|an?|that) [\w~ ]+?) ready(?: for me| to \w+| for me to \w+)? by (\w+ing) (?:it|them)\b",
     r"please start \2 \1"),
    (rf"\bi(?:'d| would) (?:rather|prefer(?: that| it if)?|like it if) you ({_PREPARED})\b(.*?)(?: than .*)?$",
     lambda m: f"please {PARTICIPLES[m[1]]}{m[2]}"),
    (rf"(?:^|(?<=, )|(?<=: )|(?<=and ))(?:(?:first|second|third|then|next|finally),? )*"
     rf"((?:the|an?|that) [\w~ ]+?|it|they) (?:gets?|is|are|will be|is to be|are to be)"
     rf" ({_PREPARED})\b([^,]*?) by you\b",
     lambda m: f"please {PARTICIPLES[m[2]]} {m[1].replace('they', 'them')}{m[3]}"),
    (r"\b(?:by )?having you (?=\w)", "please "),
    (r"\b(?:think (?:of|about)|consider|look into) (?=(?!bring\b)\w+ing\b)", "start "),
    (r"\b(?:and )?(?:over|back|across) to me with (?=the\b|it\b|them\b|those\b)", "and bring me "),
    (r"\b(put|transfer|move|pick up|take|bring|carry|collect|get) (?:what(?:'s| is| was)|whatever(?:'s| is)|"
     r"everything|anything) (?:that's |that is )?(?:still |now |currently )?(?:on|in|inside|at) (?:the )?(\w+)\b",
     r"\1 it from the \2"),
    (r"\b(?:continue|proceed|go ahead|go on|carry on) with (?:your|the) (?:current |next )?(?:plan|task|action|step)"
     r" to\b", "please"),
    (r"\b(?:along|together) with\b|\bas well as\b", "and"),
    (r"\bin order (?=to\b|for\b)", ""),
    (r"\bin order that\b", "so that"),
    (r"(?:^|(?<=: )|(?<=, ))(\w+ing\b.*), please$", r"please start \1"),
    (rf"\byou(?:'re| are) (?:responsible for|in charge of|tasked with) {_DOING}", "please start "),
    (r"\bset (?:the )?(?:pot|oven|blender)\d? to (?=\w)", "please "),
    (r"\b(?:get|set) (it|them|the(?: (?!(?:from|and|on|in|to|at)\b)[\w~]+){1,4}?) "
     r"(baking|cooking|boiling|roasting|simmering)\b(?! in\b)", r"start \2 \1"),
    (r"^(the [\w~ ]+?) (?:goes|go) (in|into|on|onto) (.*?),? please$", r"please put \1 \2 \3"),
    (r"\bit(?:'s| is) (?:high |about )?time you (?:started|began)\b", "please start"),
    (r"\bstart up\b", "start"),
    (rf"\b(?:next|up|next up) for you[:,]? {_DOING}", "please start "),
    (rf"(?:^|(?<=, ))(?:i (?:think|believe)(?: that)? )?(the \w+ing(?: process| step)?(?: of [\w~ ]+?)?)"
     rf" (?:{_MODALS}) (?:now )?be (?:started|begun|initiated) by you",
     r"please start \1"),
    (r"\s&\s", " and "),
    (r"\b(?:don't|do not) (?:forget|hesitate) to\b", "please"),
    (r"\b(?:be|is|it's) (?:great|good|nice|helpful|best|better|ideal) if you (?:could |can |would )?", "please "),
    (r"\b(?:any chance|hoping|hope)(?: that)? you (?:could|can|would|will)\b", "please"),
    (r"\blet's have you\b", "you should"),
    *((rf"\b(?:{_TURN_ON}) (?:the |up )?{utensil}\d?\b(?! to\b)", f"{verb} in the {utensil}")
      for utensil, verb in _UTENSIL_ACTS.items()),
    *((rf"\b(?:turn|switch|power) (?:the )?{utensil}\d? on\b", f"{verb} in the {utensil}")
      for utensil, verb in _UTENSIL_ACTS.items()),
    *((rf"\b(?:let|get|have|set) (?:the )?{utensil}\d? (?:to )?(?:run|running|work|working|start|started|go|going)\b",
       f"{verb} in the {utensil}")
      for utensil, verb in _UTENSIL_ACTS.items()),
    (r"\blet (the [\w~ ]+?|it|them) (boil|bake|cook|simmer|roast)\b", r"\2 \1"),
    (r"\b(turn|switch|power|fire) (it|them|that) (?:on|up)\b", r"operate \2"),
    (r"\b(?:start|activate|run) (it|them)(?! \w+ing\b)", r"operate \1"),
    (r"\b(?:kick off|set off|launch|get started (?:on|with)|get going (?:on|with))\b", "start"),
    (r"\bget(?:ting)? the (\w+ing) (?:process |step )?(?:going|started|underway|under way)\b", r"start the \1"),
    *((rf"\bget(?:ting)? ((?:the|that|this|your) [\w~ ]+?) (?:started|going|\w+ing) in (?:the )?{utensil}\d?\b",
       rf"start {verb}ing \1 in the {utensil}") for utensil, verb in (("oven", "bak"), ("pot", "cook"))),
    (r"\blet me have\b", "bring me"),
    (r"\b((?:when|once|after|as soon as|if|while)(?: [\w~']+){3,12}?) (?=(?:i'll|i will|i can|i'm going|"
     r"i am going)\b)", r"\1, "),
    (r"(?:(?<=please )|(?<=and )|(?<=^))have (it|them|(?:the|an?|some|that|those) [\w~ ]+?) (?:ready |"
     r"waiting )?(?=on the counter\b)",
     r"put \1 "),
    (rf"(?:(?<=please )|(?<=you )|(?<=^)|(?<=, ))(?:take care of|see about|be in charge of|look after)"
     rf" {_DOING}", "please start "),
    (r"\bin (?:one|a single) piece\b", "whole"),
    (r"\b(?:hurry(?: up)?|come|try|be quick) and (?=\w)", "please "),
    (r"\b(?:do )?(?:anything|everything|all) (?:but|except)\b", "don't"),
    (r"\blet the (\w+ing) (?:process )?(?:begin|start|commence)\b", r"please start the \1"),
    (r"\b(?:that|which) (?:is|are|stands?|lies?|lie|sits?|waits?)(?: currently| now| still| already| ready)* "
     r"(?=(?:in|on|inside|at)\b)", ""),
    (r"\b(?:don't|do not) (pick up|pickup|grab|fetch|get|take|bring|cut|slice|chop|use) [\w~ ]+? but (?=(?:the|"
     r"an?|one|some|another)\b)",
     r"please \1 "),
    (r"(?:^|(?<=, ))(into|onto) (?:the )?(\w+) with (it|them|(?:the|an?|that|those|these)"
     r" [\w~ ]+)", r"please put \3 \1 the \2"),
    (r"\bdo (?:me|us) (?:a|the|one) (?:small |little |big )?(?:favou?r|kindness)(?: and|:|,)? (?=\w)", "please "),
    (r"\bbe (?:a dear|so kind|kind enough|so good|good enough)(?: and| as to| to) (?=\w)", "please "),
    (r"\b(?:make|turn|transform|convert|process) (it|them|(?:the|an?|that|this) [\w~ ]+?) into (?:slices|pieces)"
     r"\b", r"cut \1"),
    (r"(?:^|(?<=, )|(?<=please ))use (?:the )?(?:pot|oven|blender|chopping[ _]board|board)"
     r"\d? for (?=\w+ing\b)", "please start "),
    (r"\bset(?:ting)? the (\w+ing) (?:process |step )?in motion\b", r"start the \1"),
    (rf"\bkeep (?:on )?{_DOING}", "please start "),
    (rf"\b(?:next|first|then|after that) (?:comes?|up is|is|follows?) {_DOING}", "please start "),
    (r"\b(?:see to it|see|take care|make certain) that (?=(?:the|it|they|an?)\b)", "ensure that "),
    (r"\buse (?:the )?(pot|oven|blender|chopping board|board)\d? for (?=(?:the|an?|your|my)\b)", r"put in the \1 "),
    (r"(?<!to )(?<!can )(?<!could )(?<!will )\b(?:focus|concentrate|go ahead|go on|carry on|get on|move on|"
     r"press on|keep going) "
     rf"(?:on |with |by |and |to )?{_DOING}",
     "please start "),
    (rf"(?<!to )\bcontinue (?:with |by |on )?(?!holding|waiting){_DOING}", "please start "),
    (rf"\bi(?:'d| would)? (?:suggest|recommend|propose|advise|appreciate) (?:you )?{_DOING}", "please start "),
    (rf"\bi(?:'d| would| could)? (?:need|want|like|use) (?:your |some |a )?(?:help|assistance|hand) with {_DOING}",
     "please start "),
    (rf"(?:^|(?<=, ))mind {_DOING}", "please start "),
    (r"\b(?:the |our )?(?:next |first |last )?(?:step|thing|move|task)(?: now)? is for you to\b", "you should"),
    (r"^(?:could|can) (the .+?) (?:go|be put|be placed) (in|into|on|onto)\b", r"please put \1 \2"),
    (rf"^(.+?) (?:{_MODALS}) be ({_PREPARED})(.*?) by you\b", r"please have \1 \2\3"),
    (r"\b(?:your (?:next |first |remaining |other )?|next )(?:task|job|step|action|duty|dutie|move|assignment|part)s?"
     r"(?: now)?(?: is| are| will be| should be| includes?| involves?| means?| consists? of|"
     r" consists? in)?[:,]? (?=\w+ing\b)", "please start "),
    (r"\b(\w+ing\b[^,]*?),? would (?:be (?:great|good|nice|helpful|ideal|best|perfect|appreciated)|help)\b",
     r"please start \1"),
    (r"\b(?:make sure|ensure|be sure|remember|see to it)(?: that)? you(?: can| should| have|'ve)?\b", "please"),
    (r"\b(?:make sure|be sure|ensure|remember|feel free) to\b", "please"),
    (r"\b(?:make sure|ensure|be sure) not to\b", "don't"),
    (r"\b(?:why don't you|why not|how about you|what if you)\b", "please"),
    (r"\b(?:how|what) about (?=\w+ing\b)", "please start "),
    (r"(?<!know )\bif you (?:could|would)(?: please)?(?= \w)", "please"),
    (r"\bit(?:'s| is) (?:now )?time for you to\b", "you should"),
    (r"\b(?:are you able|is it possible for you|do you mind if you) to\b", "could you"),
    (r"\bdo you mind\b", "would you mind"),
    (r"\bat once\b", "now"),
    (r"\bonce (more|again)\b", "again"),
    (r",? in (?:that|this|the same|the right|any) order\b", ""),
    (r"\bby you (?=\w+ing\b)", ", please start "),
    (r"\bthe (\w+ing)( of [\w~ ]+?)? (?:is|would be|will be|stays)(?: now| all)? (?:up to|left to|on|with) you\b",
     r"please start \1\2"),
    (r"\bnot (\w+ing\b[^,]*?),? but (?:rather )?(?=\w+ing\b)", "start "),
    (r"\b(move|transfer|bring|put|carry) ((?:the|an?|your|those) [\w~ ]+?) (?:out of|from|off) [\w ]+? and "
     r"(?=(?:in|on)?to\b)", r"\1 \2 "),
    (r"^(?:time|now|high time)(?: now)?(?: for you)? to (?=\w)", "please "),
    (r"\b(?:how do you feel about|what do you say to|fancy) (?=\w+ing\b)", "please start "),
    (r"\bis there (?:any|a|some) (?:way|chance)(?: that| for)? you (?:can|could|might|to)\b", "please"),
    (r"\bi (?:trust|count on)(?: that)? you(?:'ll| will| can| to)\b", "please"),
    (r"\bi could (?:really |also )?use (?=(?:an?|some|another) )", "please bring me "),
    (r"\b(the [\w~ ]+?|it) is (?:all )?yours to (?=(\w+))(?:\w+)( up)?", r"please \2\3 \1"),
    (r"\bturn (?:up|on) the heat\b", "operate it"),
    (r"\bclear ((?:the|an?|those|your) [\w~ ]+?) (?:off|from|out of) [\w ]+? (?=to\b|onto\b|into\b)", r"move \1 "),
    (r"\b(?:use|take|get|with) (?:an?|the) (?:dish|plate|bowl) to (?:collect|get|take|scoop|pick up|hold)\b",
     "fill the dish with"),
    (r"\b(?:don't|do not) ((?:put|place|drop|bring|move|set|leave)\b[^,]*?) ((?:in|on)(?:to)?) [^,]+?,? but "
     r"(?:rather |instead )?(?=(?:in|on)(?:to)?\b)", r"please \1 "),
    (r"\bafter (?:that|this|which)\b", "then"),
    (r"^requesting (?:you |that you |the chef |chef |the assistant |assistant )?(?:to )?", "please "),
    (r"\b(once|when|if) ((?:it's |it is |they're |they are |you're |you are )?"
     r"(?:done|ready|finished|complete|completed|sliced|cut|chopped|available|free|possible))"
     r"(?= (?!(?!bring\b)\w+ing\b)\w+ (?:the|it|them)\b)",
     r"\1 \2,"),
)  # fmt: skip


_CAUSATIVE = re.compile(
    r"\b(?:(?<=to )|(?<=please )|(?<=and )|(?<=^)|(?<=, )|(?<=then )|(?<=you ))(?:have|get) "
    r"(it|them|(?:both )?(?:the|that|this|those|these|an?)"
    r"(?: (?!(?:from|on|in|to|at|out|over|and(?! the)|or|then|but)\b)[\w~]+){1,5}?) "
    rf"({_PREPARED})\b"
)
_VERBLESS = re.compile(
    r"^(?:(?:just|now|next|one|an?|the|some|two) )*[\w~ ]+? (?:on|to|at) the (?:shared )?counter(?:top)?\d?,? please$"
)
_MAY_I_HAVE = re.compile(
    r"^(?:if (?:so|yes|you do|possible),? )?(?:can|could|may) (?:i|we) (?:please )?(?:get|have) "
    r"(?=(?:an?|the|some|one|another|it|them|that)\b)"
)


def in_known_words(sentence: str) -> str:
    """Return a sentence, in lower case, with its idioms put into words that the rules know."""
    for pattern, instead in _REWRITES:
        sentence = re.sub(pattern, instead, sentence)
    if _CAUSATIVE.search(sentence):
        sentence = _CAUSATIVE.sub(lambda m: f"{PARTICIPLES[m[2]]} {m[1].removeprefix('both ')}", sentence)
        sentence = re.sub(
            rf"\band ({_PREPARED})(?= (?:to|on|in|into|onto)\b)", lambda m: f"and {PARTICIPLES[m[1]]}", sentence
        )
    return sentence


def with_its_verb(sentence: str) -> str:
    """Return a request that has no verb of its own, `an egg on the counter, please`, with one; others unchanged."""
    if _MAY_I_HAVE.match(sentence) and _CAUSATIVE.search(_MAY_I_HAVE.sub("please get ", sentence)):
        return _MAY_I_HAVE.sub("please get ", sentence)
    if _MAY_I_HAVE.match(sentence):
        return _MAY_I_HAVE.sub("please bring ", sentence)
    return f"please bring {sentence}" if _VERBLESS.match(sentence) else sentence
