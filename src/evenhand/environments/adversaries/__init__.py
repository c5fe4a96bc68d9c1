"""Those who watch the policy and choose the contexts that hurt it most: one file an adversary."""

from evenhand.environments.adversaries.direction_hider import DirectionHider
from evenhand.environments.adversaries.hunter import Hunter
from evenhand.environments.adversaries.next_odds import NextOdds, next_odds
from evenhand.environments.adversaries.regret_hunter import RegretHunter
from evenhand.environments.adversaries.violation_hunter import ViolationHunter

__all__ = ["DirectionHider", "Hunter", "NextOdds", "RegretHunter", "ViolationHunter", "next_odds"]
