"""The simulated model: a respondent that runs in the process, without a key, a network or a look at the pixels.

It is a test bench and never evidence for a method. It answers the roles of `signatures` and the prompt writers of
DSPy's optimizers, in any adapter's format, and makes known mistakes at known rates, so that programs, evaluations
and optimizers can be tried and tested. The law below is fixed by fiat, before anything is tuned on it: it makes
every mechanism that a debate or an optimizer may use have an effect that can be found. It was not measured on any
model, and no report may present a number that comes from it as anything but "simulated".

The truth. The model knows the pictures of generated scenes (`evals.scenes`) from a text chunk of the PNG file. It
refuses every other picture, and a visual role without one. It knows the object that is asked about from the words
"Is there a … in the image?".

Chance. Everything random is a hash of names (the model's seed, the scene, the object, the speaker's temperament,
the event, the number of the sample), never of the rest of the prompt: two prompts are compared with the same luck.
See `SimulatedEngine` for samples.

First sight. Without advice, a speaker without a persona is wrong with these probabilities, for an object that is
there (a miss, by its size), and for one that is not (a claim, by the cause that lures into it, or unprompted):

    miss small               0.34
    miss medium              0.16
    miss large               0.06
    perception               0.38
    visual similarity        0.46
    conceptual similarity    0.42
    misunderstood question   0.36
    unreasonable inference   0.50
    unprompted               0.05

Half of the variance of this chance is shared by all speakers for one object in one scene, so that two can share a
hallucination; the other half is the speaker's own. All that follows shifts the log-odds of an error, here and in
every later stage, and the details that a speaker gets right (below) the other way.

Persona. Conservative words (cautious, sure of, point at, …) shift claims by -0.9 and misses by +0.6; imaginative
words (imaginative, surroundings, blurred, infer objects, …) the other way round. Each distinct word is half of
that, up to the whole.

Advice. Each trait that a prompt's instructions have counts once; together they shift an error by at most 1.5:

    every region: misses -0.5, perception -0.3
    small things: miss small -0.9, miss medium -0.4, perception -0.6
    look-alikes: visual similarity -1.0, conceptual similarity -0.6, perception -0.3
    name what is there: visual similarity -0.5, conceptual similarity -0.6, perception -0.5
    literal words: misunderstood question -1.2, conceptual similarity -0.3
    no inference: unreasonable inference -1.2, conceptual similarity -0.3
    visible evidence: claims -0.5, misses +0.15
    guess: misses +0.4, claims +0.4
    hurry: misses +0.4, claims +0.4
    defer: misses +0.4, claims +0.4
    agree: claims +0.5
    assume the typical: conceptual similarity +0.8, unreasonable inference +0.9, unprompted +0.9

Everything else in a prompt (being an expert, politeness, formatting, length) has no effect.

Demonstrations. One that is right, judged by its own picture, shifts by -0.30 if its case is of the same kind or its
scene of the same scenario, else by -0.15; one that cannot be judged by -0.03; of these the best 4 count. A wrong
one shifts by +0.30; of these 4 count, too.

Imitation. An example (input `example`) of the same scenario shifts by -0.40, any other by -0.10.

Zoom. A crop (input `crop`) that shows the thing in question shifts by -0.6.

Descriptions. Who describes a claimed object describes it where it is, and else what is taken for it (or anything,
if nothing is): color 0.90, shape 0.90, size 0.85, region 0.85 and each neighbour 0.80 fit that thing. Who inspects
a scene looks at the thing in question with 0.80.

Reconsidering. The new answer is wrong with these probabilities, by who was right before and by what the speaker is
told of the other's answer (nothing, attributes, everything):

    absent, both right       0.02  0.02  0.02
    absent, only I           0.10  0.15  0.20
    absent, only other       0.75  0.60  0.28
    absent, both wrong       0.90  0.45  0.60
    present, both right      0.02  0.02  0.02
    present, only I          0.05  0.08  0.12
    present, only other      0.75  0.45  0.40
    present, both wrong      0.90  0.90  0.90

except that who rightly denies an object and is told everything when it reconsiders for the first time gives in with
0.55 (the finding of section 6.5 of the visual-debate paper). Who wrongly claims an object is shifted by +0.6 if the
other did not name what is really there.

Reflecting on one's own answer. A wrong answer stays wrong with 0.68 if the details that were found show what is
really there, else with 0.86; a right answer turns wrong with 0.02.

The judge is wrong with 0.27, shifted by -0.8 where a side named what is really there; its log-odds lean by 0.35 to
the side that is named first, and by 0.20 to the one that said more.

Interpretation. Who denies an object names what is really there with 0.55 when it reconsiders (shifted up by 0.6 if
the description it knows fits, by 0.9 if it was told everything), with 0.50 when it reflects and 0.60 as the judge;
who gives in to a denial takes over what was named. Else it names another thing with 0.4. Who named the real thing
gives the right cause with 0.75; who named another guesses. Scenarios are named right with 0.95.

Prompt writers (`proposer`) return the instruction that they are shown with one or two sentences of advice, helpful,
neutral or harmful; each is equally likely, except that helpful advice about a cause that the feedback names is 8
times as likely. With 0.25 they first strike out a sentence that came from them.
"""

from demur.simulated.engine import AsyncSimulatedEngine, SimulatedEngine, simulated_lm

__all__ = ["AsyncSimulatedEngine", "SimulatedEngine", "simulated_lm"]
