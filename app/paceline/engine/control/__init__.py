"""How Auto decides, step by step, whether to draft, with whom and how far.

`Knowledge` lives as long as a pair of models, a `Controller` one turn. Nothing here reads a clock,
knows a token, or touches a model: times and confidences come in as arguments, numbers go out, so
that the same text with the same times gives the same decisions.
"""

from paceline.engine.control.controller import Controller as Controller
from paceline.engine.control.costs import VerifyCosts as VerifyCosts
from paceline.engine.control.draft_costs import DraftCosts as DraftCosts
from paceline.engine.control.knowledge import Knowledge as Knowledge
from paceline.engine.control.priors import Priors as Priors
from paceline.engine.control.steps import Settled as Settled
from paceline.engine.control.steps import StepPlan as StepPlan
from paceline.engine.control.steps import StepTimes as StepTimes
