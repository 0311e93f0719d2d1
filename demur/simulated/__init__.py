"""The simulated model: a respondent that runs in the process, without a key, a network or a look at the pixels.

It is a test bench and never evidence for a method. It answers the roles of `signatures` and the prompt writers of
DSPy's optimizers, in any adapter's format, and makes known mistakes at known rates, so that programs, evaluations
and optimizers can be tried and tested. The law below is fixed by fiat, before any prompt is tuned on it: it makes
every mechanism that a debate or an optimizer may use have an effect that can be found, and the numbers of the later
parts were chosen by looking at such effects. It was not measured on any model, and no report may present a number
that comes from it as anything but "simulated".

The truth. The model knows the pictures of generated scenes (`evals.scenes`) from a text chunk of the PNG file. It
refuses every other picture, and a visual role without one. It knows the object that is asked about from the words
"Is there a … in the image?". Of text questions it knows what it was told with `learn`, and refuses all others; their
law stands at the end.

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

Questions about texts
---------------------

Documents. One supports the answer, misleads, or is irrelevant. It has to have a supporting title, and misleads if an
error was planted into it or if it lacks what the truth says stands in it; a text that is about something else than its
title is irrelevant. Where no supporting titles are known, what states a golden answer supports it.

Memory is wrong with 0.55 for a question that needs one passage (one-hop), 0.70 for one that needs several in a row
(two-hop) and 0.40 for yes/no; the wrong answer is the same one for all speakers. 0.5 of the variance of this chance is
shared by all speakers, and 0.8 of that of what they make of documents; the rest is the speaker's own, that is of its
role and temperament.

Reading. If a document misleads, it is believed with 0.75: the answer is the wrong one that it states, if one can be
found in it. Else somebody who is shown all that the answer needs is wrong with 0.10, and who is shown a part of it with
0.55 (two-hop) or 0.32 (yes/no; 0.40 for any other), shifted by 0.08 for each irrelevant document, of which 5 count, and
by -0.4 where the thoughts so far name the link. With irrelevant documents only, the answer comes from memory, but a
wrong one is invented from a document with 0.20.

Links. What links the facts of a two-hop question (the supporting title that the question does not name) is named with
0.90 by who is shown the passage that leads to it, else with 0.45: in reasons, sentences and thoughts, so that a search
for them finds more.

Hearing another answer. The new answer is wrong with these probabilities, by who was right before and by where the
other's answer comes from (documents, memory; or any, if one has reconsidered before); of somebody with documents:

- both right: 0.02, 0.02, 0.02
- only I: 0.20, 0.15, 0.05
- only other: 0.66, 0.45, 0.88
- both wrong: 0.97, 0.90, 0.98

and of somebody without:

- both right: 0.02, 0.02, 0.02
- only I: 0.18, 0.18, 0.05
- only other: 0.45, 0.60, 0.88
- both wrong: 0.94, 0.97, 0.98

The judge of two answers is wrong with 0.30 if one of them is right (0.01 if both, 0.94 if none), shifted by -0.6 where
the documents hold all that is needed, by +0.6 where one misleads, and by -0.6 where the right side says what is wrong
with the other's answer. All judges' log-odds lean by 0.35 to the first side and by 0.20 to the longer one. A judge
holds that more rounds would change nothing with 0.45 if it is right, 0.30 if it is wrong and 0.95 if the sides agree.

Document debate, for documents that support, mislead and are irrelevant. The proponent gives up with 0.03, 0.55 and
0.70; the opponent attacks with 0.18, 0.82 and 0.90. An argument of the other side shifts their error by -0.7 if it is
right, by +0.3 if it is wrong. Where the sides disagree, the judge is wrong with 0.15, 0.20 and 0.18, shifted by -0.7
when they have replied to each other; where they agree, with 0.03 if they are right and 0.75 if they are wrong.

Search debate. If a supporting title is missing, the opponent proposes a query for it with 0.75 if another one was
found, else with 0.55; with 0.3 it rewrites a query for that, else it adds one. If nothing is missing, it proposes a
change with 0.25. The judge is wrong with 0.22, shifted by -0.8 where the opponent names what is missing.

Self-criticism. Somebody wants to look something up with 0.85 if its memory is wrong, 0.35 if it is right. A document is
found relevant with 0.92, 0.85 and 0.20 (supports, misleads, irrelevant). An answer is found fully (else partly)
supported with 0.85 if the document states it, partly (else not) with 0.15 if it does not; it is found useful with 0.85
if it is right, 0.40 if it is wrong.

Confidence, in words and as the probability of the tokens of what is claimed (their geometric mean), is 0.80 of the
probability of being right that the situation seems to have, 0.20 more if the speaker is right, 0.15 too much, and a
normal noise of 0.10, within 0.05 and 0.99. Who believes a misleading document takes it for a good one.

Advice for text roles shifts log-odds as above, by at most the same, and demonstrations as above; kinds of error are
memory, linking, reading, credulity, invention, keeps bad, drops good, search (misjudged) and persuasion:

- against knowledge: credulity -1.0, keeps bad -0.8
- quote: reading -0.8, invention -0.8, drops good -0.5
- dates and numbers: reading -0.4, credulity -0.5, keeps bad -0.5
- same thing: invention -0.8, reading -0.4, keeps bad -0.7
- link: linking -1.0, search -0.9, memory -0.3
- name alone: reading -0.4, memory -0.2
- not in the documents: invention -1.0, keeps bad -0.4
- reasons count: persuasion -0.9
- trust the document: credulity +0.8, invention +0.5, keeps bad +0.8
- hurry: all kinds +0.4
- guess: memory +0.3, invention +0.6, linking +0.3
- defer: persuasion +0.7
- keep all: keeps bad +0.9
- drop all: drops good +1.2, keeps bad -0.4

Confidence about pictures, and AlignVQA
---------------------------------------

First answers. A strategy shifts the error of first sight. The log-odds of a confidence are those of being right, over a
temperature, plus an offset and a normal noise of 0.3, so that confidences are too extreme and too high; whoever undoes
both has calibrated ones. Shift, temperature and offset are

- openly: 0.00, 0.40 and 1.3
- step by step: -0.10, 0.35 and 1.4
- self-ask: -0.20, 0.45 and 1.2
- search: 0.00, 0.40 and 1.2
- background: 0.00, 0.30 and 1.4

and 0.45 and 1.2 for the yes or no of the visual role (asked for its confidence, or for the probabilities of its
tokens). What a speaker knows of being right is the kind of the case, and 0.25 of the variance of its own chance; of the
half that all share nobody knows anything, so that agreement tells something that confidence does not. Each strategy has
its own luck, and personas do nothing in these roles. Advice, demonstrations and samples count as above.

Documents shift the error by -0.2 if one names the object, else by +0.4. A query asks for the object with 0.85 and a
background passage names it with 0.75.

Merging is never wrong: golden answers are the same, and of the others those whose words stand in each other, unless
only one is negated.

Arguments. One for a right stance goes into detail with 0.80, one for a wrong stance with 0.55. A check finds it fully
borne out, or at least partly, with these probabilities, which documents and advice shift as they shift errors,
towards the truth where they help:

- right, in detail: 0.60, 0.88
- right, vague: 0.30, 0.70
- wrong, in detail: 0.30, 0.65
- wrong, vague: 0.15, 0.45

Revising. Somebody goes over to the opposing stance with 0.75, 0.50, 0.25, 0.10 and 0.04 if the own argument is borne
out better by -2, -1, 0, 1 and 2 degrees (no, partly, fully; what was not checked or is not there is partly borne
out), shifted by 0.3 towards the stance that is right (more with helpful advice), by 1.0 for the difference of the
shares and by 1.5 for that of the mean confidences. Whom nobody opposes changes a right answer with 0.02 and a wrong
one with 0.08. The log-odds of a revised confidence are 1.2 of those of the mean confidence in the stance that is held
now (no more than 0.88 and no less than 0.12 is believed), 2.0 for each unit of its share above one half, 1.0 for each
degree by which its argument is borne out better, -0.4, and a normal noise of 0.2. So an opposing argument that is
borne out makes less sure, agreement surer, and deliberation is the better calibrated the better the confidences are
that it is shown.

In the same roles, a question about a text and without a picture is answered, with a confidence, as from memory (with
`search`, from the documents), by the law for texts; arguments and revisions follow the law above.
"""

from demur.simulated.engine import AsyncSimulatedEngine, SimulatedEngine, simulated_lm
from demur.simulated.knowledge import learn

__all__ = ["AsyncSimulatedEngine", "SimulatedEngine", "learn", "simulated_lm"]
