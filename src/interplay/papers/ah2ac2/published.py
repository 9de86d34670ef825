"""What the papers print of learning in Hanabi, for the page of results."""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """What a paper did under the same name."""

    method: str
    steps: str  # of training, as the paper has them
    number: float | None  # the same as a number, where it is one of environment steps
    score: str  # with itself
    proxies: dict[int, str]  # players -> mean score with the hidden human proxies
    source: str


METHODS: dict[str, Published] = {  # the part of a stage's name before its number of players
    "bc": Published("BC", "50 or 70 epochs, 1,000 games", None, "–", {2: "2.12", 3: "3.31"}, "AH2AC2"),
    "bc_turns": Published("BC", "50 or 70 epochs, 1,000 games", None, "–", {2: "2.12", 3: "3.31"}, "AH2AC2"),
    "hdr": Published("HDR-IPPO", "1e10", 1e10, "9.24 / 7.52 (file names)", {2: "12.76", 3: "14.03"}, "AH2AC2"),
    "hdr_proxies": Published("HDR-IPPO", "5e9", 5e9, "22.55, 22.97 (its proxies)", {2: "22.76"}, "AH2AC2"),
    "ippo_ff": Published("IPPO", "1e10", 1e10, "24.18; 15.78 at 1e9", {2: "10.16", 3: "6.34"}, "AH2AC2, JaxMARL"),
    "ippo_rnn": Published("IPPO, recurrent", "1e9", 1e9, "18.33 at 1e9 (S5)", {}, "JaxMARL"),
    "entropy": Published("high-entropy IPPO", "1e10", 1e10, "24.48 / 24.66", {}, "Forkel 2025"),
    "op": Published("Other-Play", "–", None, "–", {2: "13.91", 3: "12.87"}, "AH2AC2"),
    "op_rnn": Published("Other-Play, recurrent", "–", None, "23.90 (SAD, Aux)", {}, "Hu 2020, Siu 2021"),
    "br_bc": Published("BR-BC", "1e10", 1e10, "–", {2: "19.41", 3: "11.89"}, "AH2AC2"),
    "fcp_population": Published("FCP's population", "36 seeds x 1e10", 1e10, "–", {}, "AH2AC2"),
    "fcp": Published("FCP", "1e10", 1e10, "–", {2: "14.01", 3: "11.55"}, "AH2AC2"),
    "obl1": Published("OBL-1, analytic belief", "1,500 epochs of Q-learning", None, "21.27 (OBL-1)", {}, "Hu 2021"),
    "obl_belief": Published("the belief of OBL-2", "200 epochs", None, "–", {}, "Hu 2021"),
    "obl2": Published("OBL-2, belief learnt", "1,500 epochs of Q-learning", None, "23.43 (OBL-2)", {}, "Hu 2021"),
    "anyplay": Published("Any-Play", "500 epochs of Q-learning", None, "23.13 (with SAD, Aux)", {}, "Lucas 2022"),
    "metric_rewards": Published("metrics as reward", "–", None, "–", {}, "–"),
}
INTRA_XP = {  # published: two seeds of one method with each other, two players
    "op": "23.00 (OP with SAD and an auxiliary task)",
    "entropy": "24.45",
    "obl1": "21.17",
    "obl2": "23.30",
}
PUBLISHED_TABLE5 = {  # players: method -> (mean, median, cross-entropy)
    2: {
        "OBL (L4)": ("21.04", "22", "1.33"),
        "BR-BC": ("19.41", "20", "10.82"),
        "FCP": ("14.01", "16", "3.52"),
        "OP": ("13.91", "19", "7.81"),
        "HDR-IPPO": ("12.76", "15", "0.96"),
        "IPPO": ("10.16", "14", "12.60"),
        "BC": ("2.12", "0", "0.86"),
        "human proxies": ("22.76", "23", "0.54"),
    },
    3: {
        "HDR-IPPO": ("14.03", "16", "0.80"),
        "OP": ("12.87", "18", "6.40"),
        "BR-BC": ("11.89", "12", "29.89"),
        "FCP": ("11.55", "6", "5.97"),
        "IPPO": ("6.34", "0", "8.60"),
        "BC": ("3.31", "0", "0.70"),
        "human proxies": ("20.86", "21", "0.62"),
    },
}

TABLE3_COLUMNS = ("self_play", "inter_xp", "ad_entropy", "ard_entropy", "ic", "ci", "g1", "g2", "g3")
PUBLISHED_TABLE3 = {  # as printed; points kept after the third bomb, and a pool of its own
    "AP+Aux": ("23.128", "16.125", "2.653", "4.579", "0.442", "0.107", "0.002", "0.012", "0.097"),
    "HolmesBot": ("20.684", "6.197", "2.560", "4.271", "0.450", "0.118", "0.005", "0.002", "0.067"),
    "OBL1": ("21.268", "12.535", "2.760", "4.763", "0.163", "0.103", "0.001", "0.008", "0.131"),
    "OBL2": ("23.428", "14.822", "2.821", "4.736", "0.271", "0.104", "0.001", "0.010", "0.119"),
    "OBL4": ("24.168", "13.539", "2.800", "4.727", "0.329", "0.103", "0.000", "0.010", "0.106"),
    "OP+Aux": ("23.896", "16.402", "2.737", "4.688", "0.357", "0.105", "0.001", "0.012", "0.109"),
    "RandomBot": ("1.180", "1.641", "2.912", "4.109", "0.023", "0.101", "0.041", "0.001", "0.045"),
    "SmartBot": ("23.288", "10.393", "2.727", "4.636", "0.370", "0.105", "0.004", "0.008", "0.092"),
}


class Ablated(NamedTuple):
    """A row of the challenge's ablation over the weight of the clone (two players, 2e10 steps)."""

    perfect: int | None  # of 5,000 games of self-play
    zero: int | None
    least: int | None
    loss: float  # on the test set, a mean over all steps: half of ours per decision
    accuracy: float


ABLATION_STEPS = 2e10
ABLATION: dict[float | None, Ablated] = {  # None: the clone
    None: Ablated(None, None, None, 0.468, 0.674),
    0.0: Ablated(143, 0, 13, 7.385, 0.327),
    0.01: Ablated(247, 0, 14, 1.369, 0.433),
    0.08: Ablated(1351, 0, 14, 0.725, 0.571),
    0.13: Ablated(1599, 0, 13, 0.628, 0.605),
    0.2: Ablated(1821, 0, 15, 0.548, 0.634),
    0.3: Ablated(1564, 3, 0, 0.495, 0.656),
    0.5: Ablated(1280, 21, 0, 0.481, 0.663),
    0.7: Ablated(1166, 113, 0, 0.469, 0.668),
}
ABLATION_SELF_PLAY = {None: "19.53", 0.13: "23.42"}  # those of its Figure 5 that the text prints


class Proxy(NamedTuple):
    """A human proxy of the challenge: its Tables 2, 3 and 4."""

    self_play: float
    accuracy: float
    accuracy_change: float  # against its clone
    loss: float
    loss_change: float
    top_10: float
    top_20: float
    ipp: float
    communicativeness: float


PROXIES: dict[int, list[Proxy]] = {
    2: [
        Proxy(22.55, 0.63, -0.03, 0.53, 0.05, 0.82, 0.95, 0.43, 0.45),
        Proxy(22.97, 0.63, -0.08, 0.54, 0.07, 0.82, 0.95, 0.44, 0.48),
    ],
    3: [
        Proxy(20.88, 0.43, -0.08, 0.63, 0.08, 0.71, 0.87, 0.44, 0.47),
        Proxy(21.21, 0.44, -0.07, 0.60, 0.06, 0.73, 0.88, 0.44, 0.46),
    ],
}
PEOPLE: dict[int, tuple[float, float]] = {2: (0.44, 0.47), 3: (0.42, 0.49)}  # IPP and communicativeness of the data


class PublishedPoint(NamedTuple):
    """A published return at a number of steps."""

    steps: float
    score: float
    what: str


POINTS: dict[int, list[PublishedPoint]] = {
    2: [
        PublishedPoint(1e9, 15.78, "JaxMARL, feed-forward"),
        PublishedPoint(1e9, 18.33, "JaxMARL, recurrent (S5)"),
        PublishedPoint(1e10, 24.18, "IPPO of the challenge"),
        PublishedPoint(1e10, 24.48, "high-entropy IPPO"),
    ],
    3: [PublishedPoint(1e10, 24.66, "high-entropy IPPO")],
}
