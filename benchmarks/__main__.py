"""Run every benchmark."""

from benchmarks import allocation

if __name__ == "__main__":
    allocation.main()
