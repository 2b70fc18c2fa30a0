"""How people ask: templates per aspect of a documented thing.

``{n}`` is its name, ``{k}`` its kind, ``{p}`` a parameter, ``{o}`` another name, ``{m}`` a module.
The last template of every list is kept for evaluation: no chat that is learnt uses it.
"""

from __future__ import annotations

QUESTIONS: dict[str, tuple[str, ...]] = {
    "explain": (
        "What does {n} do?", "What is {n}?", "Explain {n}.", "Tell me about {n}.", "{n}",
        "How do I use {n}?", "How does {n} work?", "Describe the {k} {n}.", "I need help with {n}.",
        "Can you explain the {k} {n}?", "what is {n} for", "Please explain {n} to me.",
        "What is the {k} {n} good for?", "I don't understand {n}.", "Help me with {n}, please.",
        "What should I know about {n}?", "What does the {k} {n} do?", "{n}?",
        "Could you tell me what {n} does?",
    ),
    "brief": (
        "What does {n} do, in one sentence?", "Briefly, what is {n}?", "Sum {n} up.",
        "In short: what does {n} do?", "Give me a one-line summary of {n}.",
        "Summarise {n} in a sentence.",
        "Sum up {n} in one sentence.",
    ),
    "signature": (
        "What is the signature of {n}?", "How is {n} called?", "Show me the signature of {n}.",
        "What is the call syntax of {n}?", "signature of {n}", "How do I call {n}?",
        "Give me the signature of {n}.",
    ),
    "parameters": (
        "Which parameters does {n} take?", "What are the arguments of {n}?",
        "List the parameters of {n}.", "What arguments does {n} accept?", "parameters of {n}",
        "What can I pass to {n}?", "Which arguments can {n} be given?",
    ),
    "parameter": (
        "What does the parameter {p} of {n} do?", "What is {p} in {n}?",
        "Explain the argument {p} of {n}.", "What is {p} for in {n}?",
        "How do I use the {p} argument of {n}?", "What does {p} mean in {n}?",
    ),
    "default": (
        "What is the default of {p} in {n}?", "What value does {p} of {n} have by default?",
        "Which default does the parameter {p} of {n} have?",
        "What is {p} if I leave it out when I call {n}?",
    ),
    "module": (
        "Which module is {n} in?", "Where do I find {n}?", "How do I import {n}?",
        "What do I have to import for {n}?", "Which module has {n}?",
        "From which module does {n} come?",
    ),
    "since": (
        "Since which version of Python is there {n}?", "When was {n} added?",
        "Which Python version introduced {n}?", "Is {n} new?", "How old is {n}?",
        "From which Python version on can I use {n}?",
    ),
    "changes": (
        "What has changed in {n}?", "How did {n} change between versions?",
        "Which versions changed {n}?", "Tell me the history of {n}.",
    ),
    "deprecated": (
        "Is {n} deprecated?", "Can I still use {n}?", "Should I still use {n}?",
        "Has {n} been deprecated?",
    ),
    "raises": (
        "Which exceptions does {n} raise?", "What can {n} raise?", "What errors can {n} raise?",
        "When does {n} raise an exception?", "What goes wrong with {n}?",
        "Which errors do I have to expect from {n}?",
    ),
    "returns": (
        "What does {n} return?", "What is the return value of {n}?", "What do I get from {n}?",
        "What is the result of {n}?",
    ),
    "example": (
        "Show me an example of {n}.", "Give me an example for {n}.", "How is {n} used in code?",
        "Can you show {n} in action?", "example for {n}", "An example of {n}, please.",
    ),
    "kind": (
        "What kind of thing is {n}?", "Is {n} a function or a class?", "Is {n} a method?",
        "What sort of object is {n}?",
    ),
    "availability": (
        "Where is {n} available?", "On which platforms can I use {n}?",
        "Does {n} work on every platform?",
    ),
    "members": (
        "Which methods does {n} have?", "What methods does the class {n} offer?",
        "List the methods and attributes of {n}.", "What can I do with an object of {n}?",
        "Name the members of {n}.",
    ),
}  # fmt: skip

FOLLOW_UPS: dict[str, tuple[str, ...]] = {
    "explain": ("Explain it in more detail.", "Tell me more.", "What exactly does it do?",
                "I want to know more about it."),
    "brief": ("In one sentence, please.", "Say that in one sentence.", "Shorter, please.",
              "Can you say it more briefly?"),
    "signature": ("What is its signature?", "How is it called?", "Show me the signature.",
                  "And its signature?"),
    "parameters": ("Which parameters does it take?", "What are its arguments?",
                   "And the parameters?", "What can I pass to it?"),
    "parameter": ("What is {p}?", "What does {p} do?", "And {p}?", "Explain {p}, please."),
    "default": ("What is the default of {p}?", "And if I leave {p} out?",
                "Which default does {p} have?"),
    "module": ("Which module is it in?", "What do I have to import?", "How do I import it?",
               "Where do I find it?"),
    "since": ("Since when is there such a thing?", "When was it added?", "Is it new?",
              "Since which version?"),
    "changes": ("What has changed in it?", "Did it change?", "And what about older versions?"),
    "deprecated": ("Is it deprecated?", "Can I still use it?"),
    "raises": ("What can it raise?", "Which exceptions does it raise?", "Does it raise anything?",
               "And if something goes wrong?"),
    "returns": ("What does it return?", "And the return value?", "What do I get back?"),
    "example": ("Show me an example.", "Do you have an example?", "How does that look in code?",
                "Can you show me some code?", "An example, please."),
    "kind": ("Is it a function?", "What kind of thing is it?"),
    "availability": ("Where is it available?", "Does it work everywhere?"),
    "members": ("Which methods does it have?", "What methods are there?", "List its methods."),
    "find": ("And how do I {v}?", "What about this: how do I {v}?"),
}  # fmt: skip

TASKS = (
    "How do I {v}?", "How can I {v}?", "how to {v}", "What do I use to {v}?", "I want to {v}.",
    "Which {k} do I need to {v}?", "Is there a way to {v}?", "What is the way to {v} in Python?",
    "In Python, how would I {v}?",
)  # fmt: skip
DIFFERENCES = (
    "What is the difference between {n} and {o}?", "How do {n} and {o} differ?",
    "{n} or {o}?", "Compare {n} with {o}.", "When do I use {n} and when {o}?",
    "{n} vs {o}", "How does {n} compare to {o}?",
)  # fmt: skip
MODULES = (
    "What is the module {m} for?", "What does the module {m} do?", "Tell me about {m}.",
    "What is {m}?", "Explain the module {m}.", "When do I need {m}?", "{m} module",
    "What can I do with the module {m}?",
)  # fmt: skip
CONTENTS = (
    "Which {k} does the module {m} have?", "List the {k} of {m}.", "What {k} are in {m}?",
    "Name some {k} of the module {m}.",
)  # fmt: skip
SECTIONS = (
    "Tell me about {t}.", "Explain: {t}", "What should I know about {t}?", "{t}",
    "What does the documentation say about {t}?", "I want to read about {t}.",
)  # fmt: skip
TERMS = (
    "What is meant by {t}?", "What does “{t}” mean?", "Define {t}.", "{t}: what is that in Python?",
    "Explain the term {t}.", "What do Python people call {t}?",
)  # fmt: skip
MORE = ("Go on.", "Tell me more.", "More, please.", "What else?", "Continue.", "And then?")


def for_learning(templates: tuple[str, ...]) -> tuple[str, ...]:
    """Return the templates that chats to learn from may use."""
    return templates[:-1]


def for_evaluation(templates: tuple[str, ...]) -> str:
    """Return the template that is kept for evaluation."""
    return templates[-1]
