"""Every table and figure that `interplay paper PAPER RESULT` makes, with what it needs."""

from __future__ import annotations

from typing import NamedTuple


class PaperResult(NamedTuple):
    """A table or figure of a paper.

    Attributes:
        command: `module:Class` of the command that makes it, in `interplay.cli.commands`.
        what: What it shows, in a few words.
        needs: What it needs beyond an installation with `[all]`: trained agents, data, time.
    """

    command: str
    what: str
    needs: str


class Paper(NamedTuple):
    """A paper and its results by name.

    Attributes:
        title: The paper's title.
        results: Its tables and figures by the word that `interplay paper` takes.
    """

    title: str
    results: dict[str, PaperResult]


_LLM = "interplay.cli.commands.paper_llm"
_STUDY = "a folder of paper llm play"
_INTERDEPENDENCE = "interplay.cli.commands.paper_interdependence"
AH2AC2 = "interplay.cli.commands.paper_ah2ac2"
PAPERS = {
    "interdependence": Paper(
        "interdependence in human-AI teaming (Overcooked)",
        {
            "table1": PaperResult(
                f"{_INTERDEPENDENCE}:InterdependenceTable1",
                "trained agents with a scripted cooperative partner",
                "interplay-agents, minutes",
            ),
            "table2": PaperResult(
                f"{_INTERDEPENDENCE}:InterdependenceTable2", "trained agents in self-play", "interplay-agents, minutes"
            ),
            "table3": PaperResult(
                f"{_INTERDEPENDENCE}:InterdependenceTable3",
                "trained agents with models of people",
                "interplay-agents, minutes",
            ),
            "table4": PaperResult(
                f"{_INTERDEPENDENCE}:InterdependenceTable4",
                "people, and for each who offered and who accepted",
                "nothing; rounds of people with agents by --traces",
            ),
            "figure3": PaperResult(
                f"{_INTERDEPENDENCE}:InterdependenceFigure3",
                "agents that are paid for hand-overs, over the price",
                "a GPU for the whole budget",
            ),
            "correlations": PaperResult(
                f"{_INTERDEPENDENCE}:InterdependenceCorrelations",
                "reward against constructive hand-overs",
                "interplay-agents, minutes",
            ),
        },
    ),
    "ah2ac2": Paper(
        "the ad-hoc human-AI coordination challenge (Hanabi)",
        {
            "models": PaperResult(
                f"{_LLM}:HanabiModels", "language models in Hanabi", "a folder of llm play --game hanabi/2p"
            ),
            "table1": PaperResult(
                f"{AH2AC2}:Ah2ac2Table1", "agents with hidden proxies", "a challenge's database: `challenge baselines`"
            ),
            "table2": PaperResult(
                f"{AH2AC2}:Ah2ac2Table2", "proxies with themselves and their clone", "interplay-agents"
            ),
            "table3": PaperResult(f"{AH2AC2}:Ah2ac2Table3", "who foresees people", "imported games of people"),
            "table4": PaperResult(f"{AH2AC2}:Ah2ac2Table4", "how people and proxies behave", "interplay-agents"),
            "page": PaperResult(f"{AH2AC2}:ResultsPage", "the page of learned agents", "a checkout of the repository"),
        },
    ),
    "zsc": Paper(
        "ZSC-Eval: evaluating zero-shot coordination",
        {
            "football": PaperResult(
                "interplay.cli.commands.paper_football:FootballResults",
                "Tables 3 and 10: BR-Prox and goals in football, from the public results",
                "the public table football.csv.gz",
            ),
            "football-table": PaperResult(
                "interplay.cli.commands.paper_football:FootballTable",
                "our own agents in the light football, with sets of partners",
                "a panel and trained agents (benchmarks/football)",
            ),
            "football-engines": PaperResult(
                "interplay.cli.commands.paper_football:FootballEngines",
                "teams in the light football and in the real one: what carries over",
                "`make football` for the real engine",
            ),
            "figure2": PaperResult(
                "interplay.cli.commands.paper_zsc:ZscFigure2",
                "diversity of best responses to subsets selected in two ways",
                "the shipped panels",
            ),
            "figure3": PaperResult(
                "interplay.cli.commands.paper_zsc:ZscFigure3",
                "how partners of several kinds act, on two principal components",
                "the shipped panels; about a minute",
            ),
            "figure4": PaperResult(
                "interplay.cli.commands.paper_zsc:ZscFigure4",
                "BR-Prox in kitchens of one recipe, published ranges beside",
                "a checkout (results of training)",
            ),
            "figure5": PaperResult(
                "interplay.cli.commands.paper_zsc:ZscFigure5",
                "BR-Prox in kitchens of several recipes, published ranges beside",
                "a checkout (results of training)",
            ),
            "figure6": PaperResult(
                "interplay.cli.commands.paper_zsc:ZscFigure6",
                "BR-Prox with expert and moderate partners, split in two ways",
                "a checkout (results of training)",
            ),
            "table2": PaperResult(
                "interplay.cli.commands.paper_zsc:ZscTable2",
                "ranks by kinds of evaluation partners beside people's",
                "a checkout (results of training)",
            ),
            "table3": PaperResult(
                "interplay.cli.commands.paper_zsc:ZscTable3",
                "BR-Prox in football",
                "nothing; a table of returns for values beside the printed",
            ),
            "table9": PaperResult(
                "interplay.cli.commands.paper_zsc:ZscTable9",
                "share of layouts in which a method takes a rank",
                "a checkout (results of training)",
            ),
            "table10": PaperResult(
                "interplay.cli.commands.paper_zsc:ZscTable10",
                "goals in football",
                "nothing; a table of returns for values beside the printed",
            ),
            "convert": PaperResult(
                "interplay.cli.commands.paper_zsc:ZscConvert",
                "result files of the ZSC-Eval repository as a table for `interplay brprox`",
                "the repository's folder eval/results",
            ),
            "table11": PaperResult(
                "interplay.cli.commands.paper_zsc:ZscTable11",
                "E3T by its balance parameter",
                "nothing; ours where it was trained",
            ),
        },
    ),
    "llm": Paper(
        "trace-grounded audits of language-model teams",
        {
            "play": PaperResult(f"{_LLM}:PlayStudy", "plays the paper's runs with your models", "a model's endpoint"),
            "table2": PaperResult(f"{_LLM}:LLMTable2", "where cooperation is not required", _STUDY),
            "table3": PaperResult(f"{_LLM}:LLMTable3", "frameworks of partner modelling", _STUDY),
            "table4": PaperResult(f"{_LLM}:LLMTable4", "success and ADR by framework and level", _STUDY),
            "table5": PaperResult(f"{_LLM}:LLMTable5", "ADR by two windows", _STUDY),
            "figure2": PaperResult(f"{_LLM}:LLMFigure2", "verifier errors by pairing", _STUDY),
            "figure3": PaperResult(f"{_LLM}:LLMFigure3", "outcomes of requests; success, waste and uptake", _STUDY),
        },
    ),
    "preference": Paper(
        "objective metrics of human preference (Hanabi)",
        {
            "table3": PaperResult(
                "interplay.cli.commands.paper_preference:Table3",
                "objective metrics of the agents, published values beside ours",
                "interplay-agents; minutes to hours by the number of games",
            ),
            "table5": PaperResult(
                "interplay.cli.commands.paper_preference:Table5",
                "ratings on each metric, with and without RandomBot",
                "interplay-agents; a study, or simulated people",
            ),
            "figures": PaperResult(
                "interplay.cli.commands.paper_preference:Figures",
                "Figures 1 to 11 and Table 5 on one page",
                "interplay-agents; a study, or simulated people",
            ),
            "g2": PaperResult(
                "interplay.cli.commands.paper_preference:G2Senses",
                "which sense of G2 fits the published column",
                "interplay-agents",
            ),
            "humans": PaperResult(
                "interplay.cli.commands.paper_preference:Humans",
                "the same questions to 239 people and three AIs of 2017",
                "the data set HanabiData",
            ),
        },
    ),
}


def paper_commands() -> dict[str, tuple[str, str]]:
    """The results as rows of the command line's table: `paper PAPER RESULT` to command and what it shows."""
    return {
        f"paper {name} {word}": (result.command, result.what)
        for name, paper in PAPERS.items()
        for word, result in paper.results.items()
    }
