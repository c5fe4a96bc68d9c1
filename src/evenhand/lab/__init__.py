"""Experiments: play, count, compare, draw."""

from evenhand.lab.account import Account
from evenhand.lab.play import play

__all__ = ["Account", "play"]
