"""The metric learner alone: what counts as alike, from flags, without any bandit.

python examples/learn_a_metric.py
"""

import numpy as np

import evenhand as eh

rng = np.random.default_rng(0)
truth = np.diag([0.6, 0.3, 0.0])  # the third feature makes no difference; nobody says so
learner = eh.metrics.ProjectedVolume(3, epsilon=0.02, seed=0)

for question in range(1, 121):
    pair = rng.normal(size=(2, 3))
    pair /= np.linalg.norm(pair, axis=1, keepdims=True)
    gap = min(1.0, float(learner.playable_distances(pair)[0, 1]))
    learner.learn_pair(*pair, gap=gap, unfair=gap > np.linalg.norm(truth @ (pair[0] - pair[1])))
    if question in (1, 10, 30, 60, 120):
        print(f"after {question:3} questions:", np.round(np.sqrt(np.diag(learner.get_mahalanobis_matrix())), 2))

lower, upper = learner.ends_of(np.eye(3))
print("the distance of one unit of each feature lies between", np.round(lower, 2), "and", np.round(upper, 2))
