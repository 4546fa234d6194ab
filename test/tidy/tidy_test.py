#!/usr/bin/env python3
"""Shows the house rules texts that break them."""

import unittest

import tidy


class Links(unittest.TestCase):
    def broken(self, text):
        return list(tidy.broken_links("docs/architecture.md", text))

    def test_files(self):
        self.assertEqual(self.broken("[a](dialect.md) [b](../README.md) [c](reference) [d](https://example.org/x)"), [])
        self.assertEqual(self.broken("\n[a](no-such-file.md)"),
                         ["docs/architecture.md:2: links to 'no-such-file.md', which does not exist"])
        self.assertEqual(len(self.broken("![a](pictures/none.svg)")), 1)

    def test_anchors(self):
        self.assertEqual(self.broken("[a](#the-problem) [b](architecture.md#the-folders)"), [])
        self.assertEqual(self.broken("[a](#no-such-heading)"),
                         ["docs/architecture.md:1: links to '#no-such-heading', a heading that does not exist"])
        self.assertEqual(tidy.anchors("# A `b_c` (d)\n## A\n## A\n```\n# code\n```\n"), {"a-b_c-d", "a", "a-1"})

    def test_code_is_no_link(self):
        self.assertEqual(self.broken("`[a](none.md)`\n```\n[a](none.md)\n```\n"), [])


class Lint(unittest.TestCase):
    def problems(self, path, text):
        return list(tidy.lint(path, text))

    def test_length(self):
        self.assertEqual(self.problems("lib/a.cpp", "\n" * 499), [])
        self.assertEqual(len(self.problems("lib/a.cpp", "\n" * 500)), 1)

    def test_includes(self):
        self.assertEqual(len(self.problems("runtime/a.cpp", '#include "mlir/IR/Builders.h"')), 1)
        self.assertEqual(len(self.problems("runtime/check/a.cpp", '#include "runtime/sim/Timeline.h"')), 1)
        self.assertEqual(self.problems("lib/Planning/a.cpp", '#include "runtime/sim/Timeline.h"'), [])

    def test_messages(self):
        self.assertEqual(len(self.problems("lib/a.cpp", 'op.emitError("Bad thing");')), 1)

    def test_hash_tables(self):
        text = "llvm::DenseMap<int, int> table;\nfor (auto entry : table) {\n}"
        self.assertEqual(len(self.problems("lib/Planning/a.cpp", text)), 1)
        self.assertEqual(self.problems("lib/Training/a.cpp", text), [])


if __name__ == "__main__":
    unittest.main()
