"""One page of every kind, as the server sends them."""

FIGURE = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 400 140'><title>A chef carries an onion to a pot</title>"
    "<rect width='400' height='140' rx='12' fill='#efe6d6'/><circle cx='110' cy='70' r='34' fill='#2563c9'/>"
    "<path d='M170 70h80m-20-18 20 18-20 18' stroke='#1f2328' stroke-width='6' fill='none'/>"
    "<circle cx='310' cy='70' r='38' fill='#31353c'/></svg>"
)
BLUE = {"label": "Blue", "colour": "blue", "shape": "triangle"}
ITEMS = [
    {"id": "a", "label": "Blue", "colour": "blue", "shape": "triangle"},
    {"id": "b", "label": "Orange", "colour": "orange", "shape": "square"},
    {"id": "c", "label": "Green", "colour": "green", "shape": "star"},
    {"id": "d", "label": "Purple", "colour": "#7b3fb5", "shape": "circle"},
]


def base(kind: str, title: str, text: str = "", **more) -> dict:
    return {"id": f"{kind}-1", "kind": kind, "title": title, "text": text, **more}


CONSENT = base(
    "consent", "Playing together with partners",
    "<p>You will play <strong>eight short games</strong> and answer questions about your partners. It takes about 40 "
    "minutes.</p><ul><li>You may stop at any time.</li><li>We store your moves and answers, and no name.</li></ul>",
    version="2.1",
    checkboxes=[{"id": "adult", "label": "I am at least 18 years old."},
                {"id": "take_part", "label": "I have read the statement above and take part of my own will."}],
)  # fmt: skip
LIKERT = {"id": "q1", "type": "likert", "label": "The partner understood what I wanted.", "required": True, "points": 5,
          "labels": ["strongly disagree", "disagree", "neither", "agree", "strongly agree"]}  # fmt: skip
TWO_SIDED = {"id": "q2", "type": "two_sided", "label": "Which partner would you rather play with?", "required": True,
             "points": 7, "left": "The first partner", "right": "The second partner"}  # fmt: skip
CHOICE = {"id": "q3", "type": "choice", "label": "How often do you play card games?", "required": True,
          "options": [{"value": "never", "label": "Never"}, {"value": "some", "label": "Sometimes"},
                      {"value": "often", "label": "Often"}]}  # fmt: skip
MULTI = {"id": "q4", "type": "multi", "label": "Which of these games do you know?", "required": False,
         "options": [{"value": "hanabi", "label": "Hanabi"}, {"value": "cooking", "label": "Overcooked"}]}  # fmt: skip
NUMBER = {"id": "q5", "type": "number", "label": "How old are you?", "required": True, "min": 18, "max": 99}
TEXT = {"id": "q6", "type": "text", "label": "Anything else?", "required": False}
LONG = {"id": "q7", "type": "choice", "label": "Where do you live?", "required": False,
        "options": [{"value": i, "label": f"Region {i}"} for i in range(12)]}  # fmt: skip
FORM = base("form", "About your last partner", "<p>There are no wrong answers.</p>",
            questions=[LIKERT, TWO_SIDED, CHOICE, MULTI, NUMBER, TEXT, LONG])  # fmt: skip
INSTRUCTIONS = base(
    "instructions", "How to play", "<p>Put three onions in a pot, wait, and serve the soup.</p>", figures=[FIGURE]
)
QUIZ = base("quiz", "Did we explain it well?", "<p>Two questions about the rules.</p>", tries_left=2, feedback=None,
            questions=[{"id": "onions", "type": "choice", "label": "How many onions make a soup?", "required": True,
                        "options": [{"value": n, "label": str(n)} for n in (1, 2, 3)]},
                       {"id": "serve", "type": "choice", "label": "Where is it served?", "required": True,
                        "options": [{"value": "green", "label": "At the green counter"},
                                    {"value": "pot", "label": "At the pot"}]}])  # fmt: skip
RANKING = base(
    "ranking", "Where does the last partner belong?", "<p>Best on top.</p>", items=ITEMS, fixed=["b", "c", "d"]
)
WAIT = base("wait", "Looking for a partner", until_s=95, message="Another person will join you soon.")
DONE = base("done", "Thank you!", "<p>Your answers are saved.</p>", code="C1A2B3D4", payment="12.50 USD",
            url="https://recruiter.example/complete?cc=C1A2B3D4")  # fmt: skip


def game(name: str, **more) -> dict:
    flags = [{"id": "questionable", "label": "My partner's last move was questionable"}]
    page = base("game", "Round 3", game=name, socket="/api/study/demo/play", alias=BLUE, flags=flags, practice=False)
    return {**page, **more}
