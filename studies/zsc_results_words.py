"""The words of docs/results/zsc.md. `zsc_results.py` fills in the numbers and checks what is claimed."""

INTRO = """\
# Zero-shot coordination, trained here

Seven methods on six layouts of Overcooked, each agent judged by partners it has never met: ten candidates with
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
- In blocked corridor FCP, MEP and HSP fail (below 0.05). That says nothing about strangers: when their steps ended
  they scored below 30 even with the partners they were trained with (last table of the next section). TrajeDi's
  population scores {nothing:.2f} there on average, and yet its ego does far better than these three; we do not know
  why.
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
- **Other budgets.** Candidates had 4 to 7 million steps and fresh best responses 5 million, where ZSC-Eval has 10
  million for either; egos had 15 million in the first three layouts and 8 million in the others.
- **One population size**, twelve (eight in the last three layouts), where the published values are the best of
  three sizes; three seeds in place of five.

## Are agents and best responses good enough
"""

FLOORS = """\
Self-play: mean of five seeds, 25 episodes in each seat, points of the game only. A pair is a candidate with the
partner it was trained with, 50 episodes in each seating; the aim is to be within 10 % of the published one. The aim
for candidates is that more than 80 % of them deliver with their best response.

Self-play keeps its floor everywhere. Two layouts miss another aim: in bothway coordination and blocked corridor too
few candidates deliver, and in blocked corridor the best pair stays short of the published one (although one seed of
self-play reaches {most:.0f} there). Their candidates had 4 and 6 million steps; we have not tried longer runs.
Blocked corridor's panel is chosen from {able} candidates only: read its row with that in mind.

### Rulers
"""

RULERS = """\
A seating (partner, skill and seat) in which no best response scores is left out of the panel. Where an ego did
better than every best response in 200 fresh episodes, it became the ruler (raised; the panel's provenance names
it). So that no ego stands above its ruler beyond noise is the work of this step, and the number of raised rulers
says how often the trained best responses were too weak. Beyond noise: more than 1.96 standard errors above 1.05
times the ruler, if an ego's episodes spread as the ruler's do. A ruler that delivers less than one soup an episode
says little: its ratios are mostly noise.

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

Two calls of three layouts each, several jobs beside each other on one GPU (CUDA's MPS). The first ({first}) was
done after {first_s:.0f} s, the second ({second}) after {second_s:.0f} s. Coordination ring, from nothing to the
last table, took {ring_s:.0f} s while it shared the GPU with the others, for {ring_steps:.0f} million steps of the
game. The aim was 30 minutes.
"""

TIMES = """\
Million steps of all members of a job together, and seconds from its start to its end while others ran beside it. In
the panel of coordination ring {candidates:.0f} s went into the candidates, {responses:.0f} s into fresh best
responses, {rest:.0f} s into features, selection, skills and rulers, the rest into starting. Nearly all is training;
the longest chains are the panel, and TrajeDi's population with the ego that waits for it. Forced coordination's
panel was built again in the second call, after its egos were trained, with shaped rewards for the candidates too.
Its column has the time of the first building and the steps of the second.

## What is not done

- The three layouts with several recipes have no trained panel: self-play on the forced one found no reward within 5
  million steps, and the others were not tried. A grade there uses the scripted panel.
- Blocked corridor and bothway coordination: see the missed aims above.
- One population size; BR-Prox by size of population needs more runs.
- Panels of human proxies and of self-play agents were not run beside the generated ones, so nothing here says which
  panel is nearest to people.
- Who helped whom was counted in two episodes with each partner and seat, for the first seed only.
"""
