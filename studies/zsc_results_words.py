"""The words of docs/results/zsc.md. `zsc_results.py` fills in the numbers and checks what is claimed."""

INTRO = """\
# Zero-shot coordination, trained here

Seven methods on nine layouts of Overcooked, each agent judged by partners it has never met: ten candidates with
preferences of their own, selected to differ in what their best responses do, each with two skills and in both
seats. BR-Prox is the return with a partner as a share of what that partner's best response gets; [the
guide](../guide/br_prox.md) tells how it is counted. Panels and agents ship with the package:

    interplay grade --game overcooked/coordination_ring --agent trained/overcooked/coordination_ring/hsp-1

All of it comes from `python benchmarks/zsc/pipeline.py LAYOUT --out RUNS` with the settings of
`benchmarks/zsc/pipeline.json`, on one {device}. Within a layout every method has the same network and the same
settings of PPO. This page is written by `python studies/zsc_results.py`, which stops if a claim in it does not
hold.

## BR-Prox
"""

PROX = """\
IQM over seeds (five of SP, three of the others), partners and seats; brackets are 95 % intervals that draw seeds
and partners again; bold is the highest of a layout. Published: the best of any method and population size in
ZSC-Eval's results, recomputed with the right best responses; in forced coordination without the seatings in which
nobody can score (see [BR-Prox of public results](br_prox.md)). A dash is a value that we do not have.

![BR-Prox by layout and method](../images/{figure})

With ten partners and three seeds the intervals are wide, and most neighbours in a row cannot be told apart. What
can be said:

- HSP is first and SP last on coordination ring and counter circuit. In the published results, too, methods with
  populations lead there and SP is last.
- No method is first everywhere: {leaders} lead somewhere.
- In bothway coordination SP has the highest value; its interval overlaps with those below it.
- In blocked corridor SP scores {blocked:.0f} with itself and hardly anything with strangers: two seeds that met in a
  corridor of one cell have agreed on who goes first. TrajeDi leads.
- With several recipes HSP is far ahead in the ring. In the circuit nobody helps strangers (all below 0.05): these egos
  end below 60 even with the partners they were trained with (below), so that 8 million steps are too few there.
- FCP fails on counter circuit (below 0.1): its three seeds end training at {circuit} with a population whose
  members score {partners:.0f} with themselves at the end.

### Why these numbers differ from the published ones

They are not the same experiment, and cannot be compared cell by cell:

- **Other eyes and other networks.** Our agents read the vector `details` (hands, ways, pots, every counter, which
  actions do anything) with two layers of 64 units; the published ones read planes with a CNN.
- **Other partners.** Our panels come from 64 candidates of our own, by our own selection.
- **Longer rulers.** A best response here is the best of the one trained with the partner, one trained against it
  afterwards, those of the other candidates, and finally any ego that beat them all (below). A longer ruler makes
  every BR-Prox smaller.
- **Other budgets.** Candidates had 4 to 10 million steps and fresh best responses 5 or 6 million, where ZSC-Eval has 10
  million for either; egos had 15 million in the first three layouts, 12 in blocked corridor and 8 in the others.
- **One population size**, twelve (eight after the first three layouts), where the published values are the best of
  three sizes; three seeds in place of five.
- **Preferences that come after skill.** In bothway coordination, blocked corridor and the kitchens of several recipes a
  candidate's prices rise from 0 to their full weight in the middle of its training (`rewards.events_weight`); with
  prices from the start half of the candidates of blocked corridor never deliver. Blocked corridor discounts by 0.995,
  the others by 0.99.

## By other kinds of partners

The same egos, judged by clones of people (six from six splits of the 2019 games, each with a best response of its own)
and by the seeds of self-play (none by itself). BR-BC is trained with the clones, so it is no stranger to them.
"""

KINDS = """\
BR-Prox as above, 20 episodes a cell. The last column is Spearman's correlation of the seven methods' values with those
by the generated panel of the same layout: with seven methods a value below about 0.79 cannot be told from none at the
5 % level. In all four layouts clones of people order the methods more as the generated panel does than self-play agents
do, who do not mind SP. A ruler here is what can be reached with an imitation of people, and nothing on this page says
how people themselves would rank these agents. `interplay grade --panel people` uses these panels; cramped room, which
people played too, has clones but no egos.

## Are agents and best responses good enough
"""

FLOORS = """\
Self-play: mean of five seeds, 25 episodes in each seat, points of the game only. A pair is a candidate with the
partner it was trained with, 50 episodes in each seating; the aim is to be within 10 % of the published one. The aim
for candidates is that more than 80 % of them deliver with their best response.

Self-play keeps its floor wherever there is one, and the best pair is within 10 % of the published one, or above it, in
every layout. The aim for candidates is missed in three. In blocked corridor one who stands still, or who hoards onions
before the only dispenser, leaves nobody a way through, so that some preferences allow no soup at all. In the ring and
the circuit with several recipes skill comes late and prices then find pairs that hardly deliver. Read the rows of these
panels, which are chosen from fewer candidates, with that in mind.

### Rulers
"""

RULERS = """\
A seating (partner, skill and seat) in which no best response scores is left out of the panel. Where an ego did
better than every best response in 200 fresh episodes, it became the ruler (raised; the panel's provenance names
it). So that no ego stands above its ruler beyond noise is the work of this step, and the number of raised rulers
says how often the trained best responses were too weak. Beyond noise: more than 1.96 standard errors above 1.05
times the ruler, if an ego's episodes spread as the ruler's do. A ruler that delivers less than one soup an episode
says little: its ratios are mostly noise. So it is with the one cell beyond noise, in bothway coordination, whose ruler
is worth less than two points; 200 fresh episodes did not bear the ego out.

### With their own training partners
"""

OWN = """\
The last returns in training, a number for each seed. Actions are sampled, and E3T's partner is noisy.

## The selection
"""

SELECTION = """\
BR-Div is the logarithm of the determinant that the selection maximises, of the events of the ten best responses.
P-Div is the same of the partners' own events; it is smaller everywhere: partners that ask for different help do not
all act differently themselves. Determinants of different sets of candidates cannot be compared; on the public
tables, where they can, ours are [at least as large](../guide/partners.md).

## Steps and time

Three calls, several jobs beside each other on one GPU (CUDA's MPS). The first ({first}) was done after {first_s:.0f} s.
The second made asymmetric advantages and the egos of bothway coordination. The third ({third}; and
bothway's panel again) took 343 s in which some jobs ran out of memory, 22 of them at once being too many, and 394 s in
which they went on. Coordination ring, from nothing to the last table, took {ring_s:.0f} s while it shared the GPU with
the others, for {ring_steps:.0f} million steps of the game. The aim was 30 minutes.
"""

TIMES = """\
Million steps of all members of a job together, and the seconds that its training took while others ran beside it. In
the panel of coordination ring {candidates:.0f} s went into the candidates, {responses:.0f} s into fresh best
responses, {rest:.0f} s into features, selection, skills and rulers. Nearly all is training; the longest chains are the
panel, and TrajeDi's population with the ego that waits for it.

## What is not done

- Candidates that deliver in blocked corridor and two kitchens of several recipes, and egos for the circuit with several
  recipes: see above.
- One population size; BR-Prox by size of population needs more runs.
- Panels of self-play agents exist for four layouts, of clones for the five that people played.
- Who helped whom was counted in two episodes with each partner and seat, for the first seed only.
"""
