"""Merkle trees: roots and proofs are those of RFC 9162's definitions, and nothing else passes for a proof."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.ledger.merkle import (
    EMPTY,
    Frontier,
    consistency_proof,
    inclusion_proof,
    is_consistent,
    is_included,
    leaf_hash,
    node_hash,
    nodes_of,
    root,
)

# The definitions of RFC 9162, 2.1, written down once more as they stand there.


def split(n: int) -> int:
    """The largest power of two smaller than n."""
    k = 1
    while 2 * k < n:
        k *= 2
    return k


def mth(leaves: list[bytes]) -> bytes:
    """The Merkle tree hash of leaf hashes (2.1.1)."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = split(len(leaves))
    return hashlib.sha256(b"\x01" + mth(leaves[:k]) + mth(leaves[k:])).digest()


def path(m: int, leaves: list[bytes]) -> list[bytes]:
    """The inclusion proof (2.1.3.1)."""
    if len(leaves) == 1:
        return []
    k = split(len(leaves))
    if m < k:
        return [*path(m, leaves[:k]), mth(leaves[k:])]
    return [*path(m - k, leaves[k:]), mth(leaves[:k])]


def subproof(m: int, leaves: list[bytes], b: bool) -> list[bytes]:
    """The consistency proof (2.1.4.1)."""
    if m == len(leaves):
        return [] if b else [mth(leaves)]
    k = split(len(leaves))
    if m <= k:
        return [*subproof(m, leaves[:k], b), mth(leaves[k:])]
    return [*subproof(m - k, leaves[k:], False), mth(leaves[:k])]


def made(n: int, salt: int = 0) -> list[bytes]:
    """Leaves that differ."""
    return [leaf_hash(str(salt), str(i)) for i in range(n)]


def test_hashes_are_separated_by_their_first_byte() -> None:
    """A leaf is hashed after a zero byte, a node after a one; a tree without leaves has the hash of nothing."""
    assert leaf_hash("ab", "c") == hashlib.sha256(b"\x00abc").digest()
    assert node_hash(b"x" * 32, b"y" * 32) == hashlib.sha256(b"\x01" + b"x" * 32 + b"y" * 32).digest()
    assert root(0, nodes_of([])) == Frontier().root == EMPTY == hashlib.sha256().digest()


@pytest.mark.parametrize("n", range(1, 34))
def test_roots_and_proofs_follow_the_definition(n: int) -> None:
    """Every root, inclusion proof and consistency proof of all small trees is the RFC's, and verifies."""
    leaves = made(n)
    node, top = nodes_of(leaves), mth(leaves)
    assert root(n, node) == top
    for m in range(n):
        proof = inclusion_proof(m, n, node)
        assert proof == path(m, leaves)
        assert is_included(leaves[m], m, n, proof, top)
    for m in range(1, n + 1):
        proof = consistency_proof(m, n, node)
        assert proof == subproof(m, leaves, True)
        assert is_consistent(m, mth(leaves[:m]), n, top, proof)


@given(n=st.integers(1, 300), data=st.data())
@settings(max_examples=150, deadline=None)
def test_no_other_proof_passes(n: int, data: st.DataObject) -> None:
    """A proof of another leaf, place, size or root, or one that was shortened, lengthened or changed, shows nothing."""
    leaves = made(n)
    node, m = nodes_of(leaves), data.draw(st.integers(0, n - 1))
    proof, top = inclusion_proof(m, n, node), root(n, node)
    assert is_included(leaves[m], m, n, proof, top)
    assert not is_included(leaf_hash("another", ""), m, n, proof, top)
    assert not is_included(leaves[m], m, n, proof, EMPTY)
    assert not is_included(leaves[m], m, n, [*proof, EMPTY], top)
    assert not is_included(leaves[m], n, n, proof, top)
    assert not is_included(leaves[m], -1, n, proof, top)
    if proof:
        at = data.draw(st.integers(0, len(proof) - 1))
        assert not is_included(leaves[m], m, n, proof[:-1], top)
        assert not is_included(leaves[m], m, n, [*proof[:at], EMPTY, *proof[at + 1 :]], top)
        other = data.draw(st.integers(0, n - 1).filter(lambda one: one != m))
        assert not is_included(leaves[m], other, n, proof, top)


@given(n=st.integers(2, 300), data=st.data())
@settings(max_examples=150, deadline=None)
def test_no_other_history_is_consistent(n: int, data: st.DataObject) -> None:
    """Of two trees that differ before the first one's size, no part of either's proofs shows that one continues."""
    m = data.draw(st.integers(1, n - 1))
    at = data.draw(st.integers(0, m - 1))
    leaves = made(n)
    forged = [*leaves[:at], leaf_hash("forged", ""), *leaves[at + 1 :]]
    before, top, other = mth(leaves[:m]), mth(leaves), mth(forged)
    honest, dishonest = consistency_proof(m, n, nodes_of(leaves)), consistency_proof(m, n, nodes_of(forged))
    assert is_consistent(m, before, n, top, honest)
    assert not is_consistent(m, before, n, other, dishonest)
    assert not is_consistent(m, before, n, other, honest)
    assert is_consistent(m, before, n, top, dishonest) == (dishonest == honest), "what they share may be all of it"
    assert not is_consistent(m, before, n, top, [])
    assert not is_consistent(m, before, n, top, [*honest, EMPTY])
    assert not is_consistent(m, before, n, top, honest[:-1])
    assert not is_consistent(n, top, m, before, honest)
    assert not is_consistent(0, EMPTY, n, top, [])


@given(sizes=st.integers(0, 600))
@settings(max_examples=60, deadline=None)
def test_a_frontier_has_the_root_at_every_size(sizes: int) -> None:
    """Leaves added one by one give the root of the tree of all of them."""
    leaves, frontier = made(sizes), Frontier()
    for leaf in leaves:
        frontier.add(leaf)
    assert (frontier.size, frontier.root) == (sizes, mth(leaves))


def test_a_known_tree() -> None:
    """The tree of seven leaves as the RFC draws it (2.1.5)."""
    d = made(7)
    g, h, i = node_hash(d[0], d[1]), node_hash(d[2], d[3]), node_hash(d[4], d[5])
    k, top_right = node_hash(g, h), node_hash(i, d[6])
    node = nodes_of(d)
    assert root(7, node) == node_hash(k, top_right)
    assert inclusion_proof(0, 7, node) == [d[1], h, top_right]
    assert inclusion_proof(3, 7, node) == [d[2], g, top_right]
    assert inclusion_proof(4, 7, node) == [d[5], d[6], k]
    assert inclusion_proof(6, 7, node) == [i, k]
    assert consistency_proof(3, 7, node) == [d[2], d[3], g, top_right]
    assert consistency_proof(4, 7, node) == [top_right]
    assert consistency_proof(6, 7, node) == [i, d[6], k]


@pytest.mark.parametrize(("index", "size"), [(0, 0), (3, 3), (-1, 3)])
def test_a_leaf_outside_of_the_tree_is_refused(index: int, size: int) -> None:
    """There is no proof of it."""
    with pytest.raises(InvalidInput, match=f"one of the {size} of the tree, got {index}"):
        inclusion_proof(index, size, nodes_of(made(3)))
    for first, second in ((0, 3), (3, 2)):
        with pytest.raises(InvalidInput, match="0 < first <= second"):
            consistency_proof(first, second, nodes_of(made(3)))
