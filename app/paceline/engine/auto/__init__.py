"""The decisions of Auto, step by step: whether to draft, with which drafter and how far.

`Knowledge` lives as long as a pair of models, a `Controller` one turn. Nothing here reads a clock,
sees token ids or touches a model: times and confidences are arguments and numbers are results, so
the same text with the same times gives the same decisions.
"""

from paceline.engine.auto.controller import Controller as Controller
from paceline.engine.auto.controller import StepPlan as StepPlan
from paceline.engine.auto.controller import StepTimes as StepTimes
from paceline.engine.auto.costs import DraftCosts as DraftCosts
from paceline.engine.auto.costs import VerifyCosts as VerifyCosts
from paceline.engine.auto.knowledge import Knowledge as Knowledge
