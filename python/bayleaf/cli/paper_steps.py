"""The paper's examples as steps: what is done, the calculation, and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bayleaf import paper
from bayleaf.paper import Line, Sample, Share

Row = tuple[str, ...]
ONE_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Step:
    """One step: a title, where the paper has it, a sentence or two, and numbers."""

    title: str
    place: str
    say: str
    table: tuple[Row, ...] = ()
    lines: tuple[Line, ...] = ()
    answer: str = ""
    code: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the paper that can be walked through."""

    title: str
    steps: Callable[[], list[Step]]


def _samples() -> tuple[Row, ...]:
    classes = {label: [sample for sample in paper.TOY if sample.label == label] for label in "+-"}
    rows: list[Row] = [("", *classes), ("samples", *(str(len(own)) for own in classes.values()))]
    for value in (*paper.COLORS, *paper.SHAPES):
        counts = (sum(value in (sample.color, sample.shape) for sample in own) for own in classes.values())
        rows.append((value, *map(str, counts)))
    return tuple(rows)


def _joint(new: Sample, label: str, alpha: Fraction = Fraction(0)) -> Fraction:
    return Line("", (*paper.toy_shares(new, label, alpha), paper.toy_prior(label))).value


def toy() -> list[Step]:
    """Twelve samples and a blue square."""
    new, classes = paper.BLUE_SQUARE, "+-"
    likelihood = {label: Line("", paper.toy_shares(new, label)).value for label in classes}
    plus, minus = (_joint(new, label) for label in classes)
    priors = tuple(
        Line(f"P({label})", (paper.toy_prior(label),), printed=printed)
        for label, printed in zip(classes, ("0.58", "0.42"), strict=True)
    )
    likelihoods = tuple(
        Line(f"P(x | {label})", paper.toy_shares(new, label), printed=printed)
        for label, printed in zip(classes, ("0.31", "0.36"), strict=True)
    )
    joints = tuple(
        Line(f"P(x | {label}) P({label})", (likelihood[label], paper.toy_prior(label)), printed=printed)
        for label, printed in zip(classes, ("0.18", "0.15"), strict=True)
    )
    equal = tuple(Line(f"P(x | {label}) · 1/2", (likelihood[label], Share(1, 2))) for label in classes)
    return [
        Step("The samples", "Figure 4", "Twelve samples: a color, a shape, a class. Count them.", _samples()),
        Step("The priors", "equation 24", "How often is a sample + or -, whatever it is like?", (), priors),
        Step("The new sample: blue, square", "equation 25",
             "How often is a sample of each class blue, how often a square? Color and shape are taken as "
             "independent, so the shares are multiplied.", (), likelihoods),
        Step("Likelihood times prior", "equation 26",
             "The paper calls this the posterior already. It decides, but it does not sum to 1.", (), joints),
        Step("The evidence", "equation 19",
             "The sum over the classes: how probable is a blue square at all?", (),
             (Line("P(x)", (plus, minus), "+"),)),
        Step("The posteriors", "equation 3", "Divided by the evidence, they sum to 1.", (),
             (Line("P(+ | x)", (plus, plus + minus), "÷"), Line("P(- | x)", (minus, plus + minus), "÷"))),
        Step("The decision", "equation 27", "The class with the higher posterior.",
             answer="+" if plus >= minus else "-", code=_toy_code("blue", 0)),
        Step("The same with equal priors", "section 2.6.2",
             "Had both classes been as frequent, the likelihoods alone would decide.", (), equal,
             answer="+" if likelihood["+"] >= likelihood["-"] else "-",
             code="model.configure(priors='uniform')\n" + _toy_code("blue", 0).rpartition("\n")[2]),
    ]  # fmt: skip


def _toy_code(color: str, alpha: float) -> str:
    return (
        "from bayleaf import Model, category, paper\n"
        "X, y = paper.toy_table()\n"
        "views = {'color': category(values=paper.COLORS), 'shape': category()}\n"
        f"model = Model(views, alpha={alpha:g}).learn(X, y)\n"
        f"model.predict({{'color': ['{color}'], 'shape': ['square']}})"
    )


def smoothing() -> list[Step]:
    """A yellow square, with and without smoothing."""
    says = {
        Fraction(0): ("Maximum likelihood", "equation 28",
                      "No sample is yellow, so one factor is 0, and with it the product: both classes are "
                      "impossible, and nothing can be decided."),
        ONE_HALF: ("Lidstone's smoothing, alpha 1/2", "equation 29",
                   "Pretend to have seen half a sample more of each of the 4 colors and of each of the 2 "
                   "shapes."),
        Fraction(1): ("Laplace's smoothing, alpha 1", "equation 29", "One sample more of each."),
    }  # fmt: skip
    steps = []
    for alpha, (title, place, say) in says.items():
        shares = {label: paper.toy_shares(paper.YELLOW_SQUARE, label, alpha) for label in "+-"}
        lines = tuple(
            Line(
                f"P(x | {label}) P({label})", (*own, paper.toy_prior(label)), printed="0" if not alpha else ""
            )
            for label, own in shares.items()
        )
        plus, minus = (line.value for line in lines)
        answer = "" if plus == minus == 0 else "+" if plus >= minus else "-"
        code = _toy_code("yellow", float(alpha)) if alpha == ONE_HALF else ""
        if alpha == 1:
            code = "model.configure(alpha=1)\n" + _toy_code("yellow", 1).rpartition("\n")[2]
        steps.append(Step(title, place, say, (), lines, answer, code))
    return steps


def priors() -> list[Step]:
    """Two bell curves and the point between them."""
    first, second = paper.MEANS
    rows = tuple(
        (str(x), f"{paper.density(x, first):.3g}", f"{paper.density(x, second):.3g}", printed)
        for x, printed in ((first, "0.4 and < 0.001"), (second, "< 0.001 and 0.4"))
    )
    shares = (0.5, 0.6, 0.9, 0.99)
    return [
        Step("Two densities", "equation 15",
             f"The blue class has mean {first}, the green one {second}, and both have sigma {paper.SIGMA}. "
             "How dense is each at the two means?", (("x", "blue", "green", "the paper"), *rows)),
        Step("The boundary", "equation 16, Figure 3",
             "Where prior times density is the same for both, the decision changes: in the middle, 7, if the "
             "priors are equal, and 7 + log(P / (1 - P)) / 6 if the prior of blue is P.",
             (("prior of blue", "boundary"), *((f"{p:g}", f"{paper.boundary(p):.4f}") for p in shares)),
             code="from bayleaf import GaussianNB\n"
                  "GaussianNB.from_parameters([[4], [10]], [[1], [1]], priors=[0.9, 0.1])"
                  ".decision_boundaries()"),
    ]  # fmt: skip


def bag() -> list[Step]:
    """Two documents as vectors."""
    documents = [text.lower().strip(".").split() for text in (paper.D1, paper.D2)]
    rows = (
        (
            word,
            *(str(document.count(word)) for document in documents),
            str(sum(document.count(word) for document in documents)),
        )
        for word in paper.VOCABULARY
    )
    return [
        Step("Vocabulary and vectors", "equation 30, Table 1",
             f"D1: {paper.D1}  D2: {paper.D2}  Each word is a dimension; a document is the counts of its "
             "words, and their order is lost.", (("word", "D1", "D2", "sum"), *rows),
             code="from bayleaf import TextCounter, paper\n"
                  "TextCounter(token_pattern=r'\\w+').fit_transform([paper.D1, paper.D2]).toarray()"),
    ]  # fmt: skip


def tokens() -> list[Step]:
    """One sentence, cut and normalized in the ways of the paper's tables."""
    marks = {"tokenizer": "words+punctuation"}
    ways: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("Tokenization", "Table 2", {}),
        ("Stop words left out", "Table 3", {**marks, "stop_words": "english"}),
        ("Porter's stems", "Table 4", {**marks, "stemmer": "porter"}),
        ("Lemmas", "Table 5", {**marks, "lower": False, "lemmatizer": "english:noun"}),
        ("Two words in a row", "section 3.1.4", {"ngrams": (2, 2)}),
        ("Three words in a row", "section 3.1.4", {"ngrams": (3, 3)}),
    )
    steps: list[Step] = []
    for title, place, settings in ways:
        given = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        code = f"words({given}).tokens(paper.SENTENCE)"
        if not steps:
            code = f"from bayleaf import paper, words\n{code}"
        say, answer = _tokens(settings)
        steps.append(Step(title, place, say, answer=answer, code=code))
    return steps


def _tokens(settings: dict[str, Any]) -> tuple[str, str]:
    """The sentence and its tokens; or what to install to see them."""
    from bayleaf.text.views import words

    try:
        return paper.SENTENCE, " | ".join(words(**settings).tokens(paper.SENTENCE))
    except ImportError as error:
        return str(error), ""


def spam() -> list[Step]:
    """Hello world, and five messages under both models of text."""
    corpus = paper.Corpus()
    hello = (Share(paper.HELLO, paper.N_SPAM), Share(paper.WORLD, paper.N_SPAM))
    return [
        Step("Hello, world", "equations 8 and 9",
             f"Of {paper.N_SPAM} spam messages {paper.HELLO} have 'hello' and {paper.WORLD} have 'world'. "
             "How probable is a spam message with both, if words are independent?", (),
             (Line("P(hello world | spam)", hello, printed="0.004"),)),
        Step("Five messages", "section 3.2",
             f"Small enough to count by hand; the paper has none. The new message: {paper.QUESTION}",
             (("class", "message"), *corpus.messages),
             tuple(Line(f"P({label})", (corpus.prior(label),)) for label in ("spam", "ham"))),
        _model(corpus, "bernoulli"),
        _model(corpus, "multinomial"),
        Step("Term frequency and tf-idf", "equations 36, 39 and 40",
             "Divided by the length of the message, and multiplied by the logarithm of all messages by those "
             "that have the word, so that a rare word counts for more.", _weights(corpus)),
    ]  # fmt: skip


def _model(corpus: paper.Corpus, model: str) -> Step:
    asked = paper.QUESTION.split()
    bernoulli = model == "bernoulli"
    spam, ham = (corpus.factors(paper.QUESTION, label, model) for label in ("spam", "ham"))
    names = corpus.vocabulary if bernoulli else asked
    shown = [f"{'' if word in asked else 'not '}{word}" for word in names]
    rows = tuple((word, str(s), str(h)) for word, s, h in zip(shown, spam, ham, strict=True))
    lines = tuple(
        Line(f"P(x | {label}) P({label})", (Line("", own).value, corpus.prior(label)))
        for label, own in (("spam", spam), ("ham", ham))
    )
    title, place, say = (
        ("Bernoulli", "equations 34 and 35",
         "Every word of the vocabulary has its say, by being there or not; how often does not matter. "
         "Of the messages of a class (+2), how many have the word, or have it not (+1)?")
        if bernoulli else
        ("Multinomial", "equations 37 and 38",
         "Each word of the message has its say, once for each time it occurs. Of the words of a class "
         f"(+V = {len(corpus.vocabulary)}), how many are this one (+1)?")
    )  # fmt: skip
    answer = "spam" if lines[0].value >= lines[1].value else "ham"
    code = (
        "from bayleaf import Model, paper, words\n"
        "labels, texts = zip(*paper.MESSAGES)\n"
        "model = Model([words(event='bernoulli')]).learn(texts, labels)\n"
        "model.predict([paper.QUESTION])"
        if bernoulli
        else "model.configure(event='multinomial').predict([paper.QUESTION])"
    )
    return Step(title, place, say, (("word", "spam", "ham"), *rows), lines, answer, code)


def _weights(corpus: paper.Corpus) -> tuple[Row, ...]:
    asked = paper.QUESTION.split()
    rows: list[Row] = [("word", "tf", "tf / n", "idf", "tf-idf")]
    for word in dict.fromkeys(asked):
        share = paper.frequency(word, asked)
        having = sum(word in text.split() for _, text in corpus.messages)
        idf = corpus.idf(word)
        log = f"log({len(corpus.messages)}/{having}) = {idf:.4f}"
        rows.append((word, str(asked.count(word)), str(share), log, f"{float(share) * idf:.4f}"))
    return tuple(rows)


SECTIONS = {
    "priors": Section("2.4  What a prior does to the boundary", priors),
    "toy": Section("2.6  Twelve samples and a blue square", toy),
    "smoothing": Section("2.6.3  A yellow square", smoothing),
    "bag": Section("3.1  Two documents as bags of words", bag),
    "tokens": Section("3.1  One sentence, cut and normalized", tokens),
    "spam": Section("3.2 to 3.4  Spam or ham", spam),
}
