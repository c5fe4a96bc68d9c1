"""The benchmark against peers. Others by name: `python -m benchmarks.learners`, `python -m benchmarks.sweep`."""

from benchmarks import allocation

if __name__ == "__main__":
    allocation.main()
