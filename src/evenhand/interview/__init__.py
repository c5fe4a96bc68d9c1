"""An interview before going live: the most telling pairs of candidates, with made-up odds."""

from evenhand.interview.forecast import Forecast
from evenhand.interview.interview import Interview
from evenhand.interview.question import Answer, Question

__all__ = ["Answer", "Forecast", "Interview", "Question"]
