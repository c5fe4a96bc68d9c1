"""An interview before going live: questions about the most informative pairs of candidates."""

from evenhand.interview.forecast import Forecast
from evenhand.interview.interview import Interview
from evenhand.interview.plan import ReviewPlan
from evenhand.interview.question import Answer, Question

__all__ = ["Answer", "Forecast", "Interview", "Question", "ReviewPlan"]
