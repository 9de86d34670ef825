"""The words of docs/results/zsc.md. `results_page.py` fills in the numbers and checks what is claimed."""

INTRO = """\
# Zero-shot coordination, trained here

Seven methods on nine layouts of Overcooked, each agent judged by partners it has never met: ten candidates with
preferences of their own, selected to differ in what their best responses do, each with two skills and in both
seats. BR-Prox is the return with a partner as a share of what that partner's best response gets; [the
guide](../guide/br_prox.md) tells how it is counted. Panels and agents ship with the package:

    interplay grade --game overcooked/coordination_ring --agent trained/overcooked/coordination_ring/hsp-1

**Two generations stand side by side.** Coordination ring, counter circuit, forced coordination and blocked corridor
were trained by the plan that `benchmarks/zsc/pipeline.json` holds now: five seeds of SP, E3T, FCP, MEP and HSP (in the
last two TrajeDi, too) with 60 million steps each, every ego with a population of its own, preferences of evaluation
partners disjoint from HSP's, a gate that retrains dead seeds, and panels that known agents have tried to beat. The
other five layouts, COLE everywhere and TrajeDi in the first two are from an earlier plan: three seeds, 8 to 15 million
steps, one population for all seeds, no gate, and preferences that HSP's partners may share. Read those as
under-trained. In the circuit with several recipes SP, FCP, MEP and HSP are of the present plan, too (populations and
candidates of 50 million steps), beside the earlier panel, which they have tried to beat. {dead} of these {egos} egos
are dead: they deliver less than one soup in an episode with themselves. They do not ship, values are over the seeds
that are alive, and [below](#dead-seeds) is what the dead would make of them.

All of it comes from `python benchmarks/zsc/pipeline.py LAYOUT --out RUNS` on one {device}. Within a layout every method
has the same network. This page is written by `python -m interplay.papers.zsc.results_page`, which stops if a claim in
it does not hold. Figures and tables of the paper are made by `interplay paper zsc figure2 ... table11`.

## BR-Prox
"""

PROX = """\
IQM over seeds, partners and seats; brackets are 95 % intervals that draw seeds and partners again; bold is the best
trained method of a layout. `greedy` is the scripted chef `overcooked/greedy`, which has one seed. Published: the best
of any method and population size in ZSC-Eval's results, recomputed with the right best responses; in forced
coordination without the seatings in which nobody can score (see [BR-Prox of public results](br_prox.md)). The public
tables hold five of the nine layouts; for the others only the best value is known here, and a dash stands for SP's.

![BR-Prox by layout and method](../images/{figure})

- **The scripted chef is not beaten in {greedy}.** There `greedy` is above the best trained method. In coordination ring
  and counter circuit its value lies within the best method's interval, so that they cannot be told apart; it took no
  training. Trained methods are ahead of it in {above}.
- No method is first everywhere: {leaders} lead somewhere. In the four layouts that were trained anew SP is last; HSP is
  first among the trained in counter circuit and blocked corridor, TrajeDi (three seeds, earlier) and then HSP in
  coordination ring.
- In bothway coordination SP has the highest value of the methods; its interval overlaps with those below it.
- In blocked corridor SP scores {blocked:.0f} with itself and hardly anything with strangers: two seeds that met in a
  corridor of one cell have agreed on who goes first. HSP leads, within noise of `greedy`, then MEP, of which four seeds
  of five live.
- With several recipes HSP is far ahead of the other methods in the ring. **In the circuit the best trained method
  is far below the scripted chef**: HSP reaches {circuit_hsp:.2f} (with 8 million steps it had 0.02), the others
  stay below {circuit_rest:.2f}, and `greedy` has {circuit_greedy:.2f}. SP scores {circuit_sp:.0f} with itself there
  and nothing with strangers. Of the 15 egos of FCP, MEP and HSP 8 died twice: they end training with 50 to 90
  points with their own partners, and score nothing with themselves and nothing with strangers. Two of FCP's were
  looked at beside six agents of SP: together they make up to 140 points an episode, of which the ego earns none. It
  fetches and its partner serves every soup, and two such cooks serve none. The price on picking soups up in this
  kitchen's shaping is a likely cause that was not tested.

With ten partners the intervals are wide, and most neighbours in a row cannot be told apart.

### Dead seeds

An ego that scores less than one soup (20 points) with itself is dead. The gate of the present plan trains such runs
again and counts what stays dead; the earlier plan had none. An average over survivors flatters a method, so both values
stand here; an ego that its gate left out counts as 0 in the last column where it was not measured (it was in the
circuit with several recipes).

{died}
### Beside the published values

Three of the layouts that were trained anew (no public table has blocked corridor). Published: lowest and highest of the
sizes of populations in ZSC-Eval's results.
"""

PUBLISHED = """\
Every method that was trained anew is within or above its published range, but for SP, whose published values lie within
our intervals. The best responses here are stricter than the published ones: in the public table of coordination ring a
tenth of all cells lies above 1, here none does beyond noise. The gate (20 points with oneself and with one's
population, 10 in the circuit with several recipes) trained again: {gates}; all other egos passed it at the first try.

They are still not the same experiment, and cannot be compared cell by cell:

| | here | published |
| --- | --- | --- |
| what agents see | the vector `details` (hands, ways, pots, every counter, which actions do anything) | planes |
| network | two layers of 64 units, without memory | CNN; GRU of 64 for egos |
| critic | the ego's own view | all views, and which partner it is |
| partners | ten of 64 candidates of our own (forced: of 48), 5 to 15 million steps | ten of their own, 10 million |
| preferences | one half of the space trains HSP's partners, the other evaluates | drawn from the same space |
| best response | the best of those trained with it or against it, all others', and known agents | one of these |
| steps of egos | 60 million | 100 million |
| partners of an ego | 12 of its own: 4 runs at three skills; HSP 6 biased and 2 such runs | 12, 24 and 36 |
| seeds | 5 (earlier agents 3) | 5 |
| dead seeds | trained again once, then left out and counted (the earlier plan: left out and counted) | not said |
| expert and moderate | by self-play and by best-response return (`interplay paper zsc figure6`) | by self-play |
| tomatoes | free; the earlier forced kitchen of several recipes cost 3 for each in training | free |
| scripted chefs | `greedy` beside the methods of every layout | none |

Partners with preferences score little or nothing with themselves, so that a split by self-play says hardly anything of
their skill; the split by what their best response returns does.

In the five earlier panels candidates had 4 to 10 million steps and fresh best responses 5 or 6 million; egos of the
earlier plan had 8 million there, populations were of eight. In bothway coordination, blocked corridor and the kitchens
of several recipes a candidate's prices rise from 0 to their full weight in the middle of its training
(`rewards.events_weight`); with prices from the start half of the candidates of blocked corridor never deliver. Blocked
corridor discounts by 0.995, the others by 0.99.

## States met by others

A third of the tables of these egos begin their episodes in states that their partners met without them
(`met_states`, jobs `egos_states` of the plan; the same populations, steps and seeds). The field holds that failures in
plain Overcooked are failures of state coverage.
"""

STATES = """\
In blocked corridor, where two cooks block each other, it helps both methods, with strangers of every kind; in forced
coordination, where hands meet over a counter and nobody is in the way, it does not, but for HSP with clones of people.
The intervals overlap. These egos ship as `hsp_states-1` and so on; they are no rows of the tables above.

## By other kinds of partners

The same egos, judged by clones of people (six from six splits of the 2019 games, each with a best response of its own),
by self-play agents, and in one layout by twelve scripted chefs with skills and habits (`greedy`, its noisy, slow,
stubborn, hoarding, passing and carrying kin, and chefs of one task). In the layouts that were trained anew no method
trained with any of the ten self-play partners; in asymmetric advantages they are FCP's population. BR-BC is trained
with the clones, so it is no stranger to them.
"""

KINDS = """\
BR-Prox as above, 50 episodes a cell in the layouts that were trained anew and 20 in asymmetric advantages. The last
column is Spearman's correlation of the seven methods' values with those by the generated panel of the same layout: with
seven methods a value below about 0.79 cannot be told from none at the 5 % level. {nearer} A best-response return is
what can be reached with an imitation of people, and nothing on this page says how people themselves would rank these
agents. `interplay grade --panel people` uses these panels; cramped room, which people played too, has clones but no
egos.

## Are agents and best responses good enough
"""

FLOORS = """\
Self-play: mean of five seeds, 25 episodes in each seat, points of the game only. A pair is a candidate with the
partner it was trained with, 50 episodes in each seating; the aim is to be within 10 % of the published one. The aim
for candidates is that more than 80 % of them deliver with their best response.

Self-play keeps its floor wherever there is one, and the best pair is within 10 % of the published one, or above it, in
every layout. The aim for candidates is missed in four. In blocked corridor one who stands still, or who hoards onions
before the only dispenser, leaves nobody a way through, and in forced coordination one who keeps things off the counter
leaves the other without them, so that some preferences allow no soup at all. In the ring and the circuit with several
recipes skill comes late and prices then find pairs that hardly deliver. Read the rows of these panels, which are chosen
from fewer candidates, with that in mind.

### Best responses
"""

RULERS = """\
A seating (partner, skill and seat) in which no best response scores is left out of the panel. Exceeded: cells in which
an ego or a scripted chef did better than all trained responses beyond noise (Welch's test in 200 fresh episodes, Holm's
correction). A response was then trained on from that agent with 4 million steps (1 million in the circuit with several
recipes, on a CPU); where it did not reach it, the agent itself is the best response. In the other earlier layouts only
egos tried, nothing was trained on, and who did better became the best response; there `greedy` exceeds some of them
(last two columns, which count it). Beyond noise: more than 1.96 standard errors above 1.05 times the best-response
return, if an ego's episodes spread as the best response's do. A best response that delivers less than one soup an
episode says little: its ratios are mostly noise. So it is with the one ego beyond noise in bothway coordination, whose
best response is worth less than two points.

`interplay partners audit overcooked/coordination_ring` tries all known agents again, in fresh episodes:

{audit}

### With their own training partners
"""

OWN = """\
The last returns in training, a number for each seed that passed its gate. Actions are sampled, and E3T's partner is
noisy. In coordination ring and counter circuit TrajeDi and COLE are the earlier ones, in forced coordination and
blocked corridor COLE; in the circuit with several recipes TrajeDi, E3T and COLE.

## The selection
"""

SELECTION = """\
BR-Div is the logarithm of the determinant that the selection maximises, of the events of the ten best responses.
P-Div is the same of the partners' own events; it is smaller everywhere: partners that ask for different help do not
all act differently themselves. Determinants of different sets of candidates cannot be compared; on the public
tables, where they can, ours are [at least as large](../guide/partners.md).

## Steps and time

The layouts that were trained anew together, {steps:.0f} million steps of the game: five or six jobs beside each other
on one GPU (CUDA's MPS). Of coordination ring and counter circuit, populations, egos and drafts of both were done 416 s
after the start, compiling included: about 15 million steps a second; panels, chefs and self-play panels took another
180 s. Forced coordination and blocked corridor took 1,130 s on a GPU that training in other games shared, the circuit
with several recipes, to which the same holds, {circuit_s:.0f} s without its panel (closed on a CPU).
"""

EARLIER = """\
Million steps of all members of a job together, and its seconds from start to end while others ran beside it. Egos are
FCP, MEP and HSP in one program; a draft is a panel before known agents try to beat it. The earlier layouts, with the
seconds that training took:
"""

TIMES = """\
## What is not done

What comes next, in which order and how long it takes is in `benchmarks/zsc/README.md`.

- Four layouts were not begun anew, and `asymmetric_coordination` has no panel. In the circuit with several recipes the
  panel's partners are the earlier ones, so that HSP may have trained with preferences that they have; 40 new pairs were
  trained for another panel, whose making failed.
- No trained method is above `greedy` beyond noise in coordination ring or counter circuit. Recurrent egos with 100
  million steps (`egos_gru` in the plan) and populations of 24 (`egos_24`) are planned and were not run; episodes that
  begin in states met by others were not tried in these two.
- COLE has not been trained anew, TrajeDi in two of four layouts.
- Panels of scripted chefs ship for coordination ring and blocked corridor (`--panel chefs`); the table has the second
  alone. In the panels of clones of the earlier layouts known agents that did better than the trained responses are the
  best responses; nothing was trained on from them.
- Who helped whom was counted in two episodes with each partner and seat, for the first seed only.
"""
