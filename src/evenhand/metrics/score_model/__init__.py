"""The model behind `Score`: a reviewer's score, residual, threshold and lapses, and how they are learned.

In reading order. What a reviewer is: `threshold` h(g), `parameters` (weights, rises of h, lapse), `prior`. What they
said: `answers` (each an interval that the difference of two scores lies in or outside of), `rated` (ratings as such
answers), `likelihood`. What is believed: `belief` (chances of a flag, and the widest gap at which one is no likelier
than the quantile), by `fitting`: `sampling` while answers are few, `mode` from 200 on. Several reviewers: `panel` (the
prior of one from the others), `member` (one reviewer with answers and belief), `report`. Constants: `tuning`.
"""
