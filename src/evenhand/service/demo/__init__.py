"""`evenhand serve --demo`: a lending desk with a past and new applicants all the time; nothing is kept."""

from evenhand.service.demo.server import serve_demo
from evenhand.service.demo.sizes import SIZES

__all__ = ["SIZES", "serve_demo"]
