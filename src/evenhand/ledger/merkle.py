"""Merkle trees as in RFC 9162: roots, and proofs that an event is in a tree, and that one tree continues another.

Leaves are numbered from 0. A tree is given by its complete subtrees: `node(level, index)` is the hash over the leaves
from index * 2**level to (index + 1) * 2**level. All functions are pure; hashes are 32 bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from evenhand.errors import InvalidInput

Node = Callable[[int, int], bytes]
"""The hash of a complete subtree, by its level and its index on that level."""

EMPTY = hashlib.sha256().digest()
"""The root of a tree without leaves."""


def leaf_hash(previous: str, text: str) -> bytes:
    """The leaf of an event: SHA-256 of a zero byte, the hash of the event before, and its text."""
    return hashlib.sha256(b"\x00" + f"{previous}{text}".encode()).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The node above two others."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def nodes_of(leaves: Sequence[bytes]) -> Node:
    """The complete subtrees over leaves at hand."""

    def node(level: int, index: int) -> bytes:
        if level == 0:
            return leaves[index]
        return node_hash(node(level - 1, 2 * index), node(level - 1, 2 * index + 1))

    return node


def root(size: int, node: Node) -> bytes:
    """The root of the tree of the first `size` leaves.

    >>> root(0, nodes_of([])) == EMPTY, root(2, nodes_of([EMPTY, EMPTY])) == node_hash(EMPTY, EMPTY)
    (True, True)
    """
    return _hash(0, size, node) if size else EMPTY


def inclusion_proof(index: int, size: int, node: Node) -> list[bytes]:
    """What shows that leaf `index` is in the tree of the first `size` leaves (RFC 9162, 2.1.3.1)."""
    if not 0 <= index < size:
        raise InvalidInput(f"the leaf must be one of the {size} of the tree, got {index}")
    proof, start, end = [], 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            proof.append(_hash(middle, end, node))
            end = middle
        else:
            proof.append(_hash(start, middle, node))
            start = middle
    return proof[::-1]


def consistency_proof(first: int, second: int, node: Node) -> list[bytes]:
    """What shows that the tree of `second` leaves begins with that of `first` (RFC 9162, 2.1.4.1)."""
    if not 0 < first <= second:
        raise InvalidInput(f"sizes must be 0 < first <= second, got {first} and {second}")
    proof, start, end, is_root = [], 0, second, True
    while end != first:
        middle = start + _split(end - start)
        if first <= middle:
            proof.append(_hash(middle, end, node))
            end = middle
        else:
            proof.append(_hash(start, middle, node))
            start, is_root = middle, False
    return ([] if is_root else [_hash(start, end, node)]) + proof[::-1]


def is_included(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether a proof shows that a leaf is at its index in the tree with this root (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    place, last, found = index, size - 1, leaf
    for other in proof:
        if last == 0:
            return False
        if place & 1 or place == last:
            found = node_hash(other, found)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            found = node_hash(found, other)
        place, last = place >> 1, last >> 1
    return last == 0 and found == root


def is_consistent(first: int, first_root: bytes, second: int, second_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether a proof shows that the second tree begins with the first (RFC 9162, 2.1.4.2)."""
    if not 0 < first <= second:
        return False
    if first == second:
        return not proof and first_root == second_root
    path = [first_root, *proof] if first & (first - 1) == 0 else list(proof)
    if not path:
        return False
    place, last = first - 1, second - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old = new = path[0]
    for other in path[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            old, new = node_hash(other, old), node_hash(other, new)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            new = node_hash(new, other)
        place, last = place >> 1, last >> 1
    return last == 0 and old == first_root and new == second_root


def _split(size: int) -> int:
    """The largest power of two below a size > 1."""
    return 1 << (size - 1).bit_length() - 1


def _hash(start: int, end: int, node: Node) -> bytes:
    """The hash over some leaves; a complete subtree if there is one, else of two parts."""
    size = end - start
    if size & (size - 1) == 0:
        level = size.bit_length() - 1
        return node(level, start >> level)
    middle = start + _split(size)
    return node_hash(_hash(start, middle, node), _hash(middle, end, node))


class Frontier:
    """The right edge of a growing tree: the root at every size, for whoever reads all leaves in order."""

    def __init__(self) -> None:
        self.size = 0
        self._nodes: list[bytes] = []
        """A complete subtree for each bit of the size, the largest first."""

    def add(self, leaf: bytes) -> None:
        """The next leaf."""
        size, found = self.size, leaf
        while size & 1:
            found, size = node_hash(self._nodes.pop(), found), size >> 1
        self._nodes.append(found)
        self.size += 1

    @property
    def root(self) -> bytes:
        """The root of the tree so far."""
        found = self._nodes[-1] if self._nodes else EMPTY
        for left in reversed(self._nodes[:-1]):
            found = node_hash(left, found)
        return found
