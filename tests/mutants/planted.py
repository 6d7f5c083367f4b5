"""The planted changes: what a slip of the hand, or a merge, could do to a result without an error."""

from typing import NamedTuple

REFERENCES = "tests/methods/test_references.py"
KMEANS = "tests/clustering/test_kmeans.py"
LLOYD = "tests/clustering/test_lloyd.py"
TRAINING = "tests/nn/test_training.py"
PROVENANCE = "tests/experiment/test_provenance.py"
FILES = "tests/test_files.py"
TABLES = "tests/tables/test_cells.py", "tests/tables/test_table3.py"
JOBS = "tests/experiment/test_jobs.py"


class Mutant(NamedTuple):
    """A change of one place of a file, and the tests of which one must fail.

    Attributes
    ----------
    file : str
        The file, below ``dekm/``.
    old, new : str
        What is replaced, which the file has once, and by what.
    tests : tuple of str
        Tests, as pytest names them, the fastest first.
    """

    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def of(file: str, tests: tuple[str, ...], *changes: tuple[str, str]) -> list[Mutant]:
    """Several changes of a file that the same tests find."""
    return [Mutant(file, old, new, tests) for old, new in changes]


MUTANTS = [
    *of(
        "methods/dkm.py",
        (REFERENCES, "tests/methods/test_dkm.py"),
        ("[*network.parameters(), U]", "[*network.parameters()]"),
        ("[*network.parameters(), U]", "[*encoder.parameters(), U]"),
        ("alpha.fill_(value)", "alpha.fill_(alphas[0])"),
        ("[self.alpha, *self._alphas()][-1]", "[self.alpha, *self._alphas()][1]"),
        ("partition = assign(H, U.detach())\n", "partition = assign(H, partition.centers)\n"),
        ("+ self.lam * soft_kmeans_loss", "+ soft_kmeans_loss"),
    ),
    *of("methods/soft_kmeans.py", (REFERENCES,), ("math.log(i + 1) ** 2)", "math.log(i + 2) ** 2)")),
    *of(
        "methods/dcn.py",
        (REFERENCES, "tests/methods/test_dcn.py"),
        ("            U.copy_(partition.centers)\n", ""),
        ("            labels.copy_(partition.labels)\n", ""),
        ("FIRST_COUNT = 100", "FIRST_COUNT = 1"),
        ("    counts += sizes.long()\n", ""),
        (
            "labels[index] = nearest_center(h, U)  # Equation (7)\n",
            "pass\n",
        ),
        ("self.lam / 2 * squared_error", "self.lam * squared_error"),
        (", init=U)", ")"),
    ),
    *of(
        "methods/dekm.py",
        (REFERENCES, "tests/methods/test_dekm.py"),
        ("MARGIN = 1e-4", "MARGIN = 0.5"),
        ("trained = network if self.reconstruction else encoder", "trained = encoder"),
        (
            "label_change(previous.labels, partition.labels, match=True)",
            "label_change(previous.labels, partition.labels, match=False)",
        ),
        ("U @ V.T, labels, self._columns", "U, labels, self._columns"),
        ("return [e - 1] if", "return [0] if"),
        ("if (changed < self.tol and", "if (changed <= self.tol and"),
        ("max(1, 2 * previous.n_iter)", "1"),
    ),
    *of(
        "methods/dec.py",
        (REFERENCES, "tests/methods/test_dec.py"),
        ("[*trained.parameters(), U]", "[*trained.parameters()]"),
        ("trained = network if reconstruct else encoder", "trained = encoder"),
        ("+ self.gamma * divergence if", "+ divergence if"),
        ("P.copy_(target_distribution(Q))", "P.copy_(Q)"),
    ),
    *of(
        "methods/soft_reset.py",
        ("tests/methods/test_soft_reset.py",),
        ("in pairs[:-1]:", "in pairs:"),
        ("if (max_iter - end) * n_steps >= interval", "if end < max_iter"),
        ("alpha=1 - factor", "alpha=factor"),
        ("                    tensor.zero_()\n", "                    pass\n"),
        ("n_iter <= self.iterations[-1]", "n_iter < self.iterations[-1]"),
    ),
    *of(
        "methods/edesc.py",
        ("tests/methods/test_edesc.py",),
        ("[*network.parameters(), D]", "[*network.parameters()]"),
        ("self.beta / self.n_clusters * divergence", "self.beta * divergence"),
        ("P.copy_(target_distribution(S))", "P.copy_(S)"),
        ("[-r:].flip(0)", "[:r].flip(0)"),
        ("block[:, None] != block", "block[:, None] >= 0"),
    ),
    *of(
        "methods/vade.py",
        ("tests/methods/test_vade.py",),
        ("*spread.parameters(), logits", "logits"),
        ("self.decay**n_iter", "self.decay"),
        ("(log_variances / 2).exp()", "log_variances.exp()"),
        ("SLOPE * (X - 0.5)", "X"),
        ("min(self.lr, self.min_lr)", "0.0"),
    ),
    *of(
        "methods/variational.py",
        ("tests/methods/test_vade.py",),
        ("log_gamma - log_weights", "log_gamma"),
        ("(squares + log_variances)", "squares"),
    ),
    *of(
        "methods/acedec.py",
        ("tests/methods/test_acedec.py",),
        ("[*network.parameters(), V, logits]", "[*network.parameters(), logits]"),
        ("(RATE * logits).sigmoid()", "logits.sigmoid()"),
        ("mse_loss(network.decoder(y @ V), x) / variance", "mse_loss(network.decoder(y @ V), x)"),
        ("center.lerp_(seen[0].mean(0), 0.5)", "pass"),
        ("rows, self.shared_center_)", "rows, 0)"),
    ),
    *of(
        "methods/subspaces.py",
        ("tests/methods/test_acedec.py",),
        ("sorted_eigenvectors(within - total)", "sorted_eigenvectors(within)"),
        ("2 * (t / w).log()", "(t / w).log()"),
        ("(1 - beta) * (Y - center)", "(Y - center)"),
        ("(sizes > 0) / (1 + counts)", "1 / (1 + counts)"),
        ("cluster_means(Y, moved.labels, len(U))", "moved.centers"),
    ),
    *of(
        "methods/soft_assignment.py",
        ("tests/methods/test_dec.py", REFERENCES),
        ("weight = Q**2 / Q.sum(0)", "weight = Q**2"),
    ),
    *of(
        "clustering/lloyd.py",
        (LLOYD, KMEANS),
        ("n_trials = 2 + int(math.log(n_clusters))", "n_trials = 1"),
        ("dtype).argmin(1)]", "dtype).argmax(1)]"),
        ("return min(runs, key", "return max(runs, key"),
        ("threshold = tol * X.var(0, correction=0).mean()", "threshold = 0 * X.var(0, correction=0).mean()"),
        ("best = int(inertia.argmin())", "best = 0"),
        (
            "empty = counts == 0\n    means = (sums / counts.clamp_min(1)[..., None])",
            "empty = counts < 0\n    means = (sums / counts.clamp_min(1)[..., None])",
        ),
    ),
    *of(
        "clustering/kmeans.py",
        (KMEANS,),
        ("(1 - margin) * kept.inertia", "kept.inertia"),
        ("means = cluster_means(X, previous.labels, n_clusters)", "means = previous.centers"),
    ),
    *of(
        "clustering/scatter.py",
        ("tests/clustering/test_scatter.py", REFERENCES),
        ("D = (H - U[labels]).double()", "D = (H - H.mean(0)).double()"),
    ),
    *of(
        "nn/training.py",
        (TRAINING, REFERENCES),
        ("*(value.isfinite().all() for value in step.parameters)", ""),
        ("mean = torch.stack(losses).mean()", "mean = torch.stack(losses)[-1]"),
        ("return ((x_hat - x) ** 2).flatten(1).sum(1).mean()", "return ((x_hat - x) ** 2).mean()"),
        ("        if reshuffle:\n", "        if not reshuffle:\n"),
    ),
    *of(
        "experiment/provenance.py",
        (PROVENANCE,),
        ('source_digests(module, "dekm.metrics", SCALING)', "source_digests(module, SCALING)"),
        ('source_digests(module, "dekm.metrics", SCALING)', 'source_digests(module, "dekm.metrics")'),
        ("SCALING, *own)", "SCALING)"),
        ('"--dirty", ', ""),
        ('return f"Constant({node.value!a})"', "return ascii(node.value)"),
        ('if not (isinstance(part, ast.Constant) and part.value == "")', ""),
        ("            pending += imported\n", ""),
    ),
    *of(
        "experiment/history.py",
        ("tests/experiment/test_truth.py",),
        (
            "        self.history = history\n",
            "        self.history = history\n        history.scorer = self\n",
        ),
    ),
    *of(
        "experiment/checkpoints.py",
        ("tests/experiment/test_checkpoints.py",),
        ("        if key != self.key:\n", "        if False:\n"),
        ("        os.fsync(written.fileno())", "        written.fileno()"),
        (
            "training.tensors | record.tensors, training.values | record.values",
            "training.tensors, training.values",
        ),
    ),
    *of(
        "experiment/cells.py",
        (
            f"{JOBS}::test_complete_seeds_are_kept_and_a_new_seed_runs_alone",
            f"{JOBS}::test_fresh_recomputes_the_same_result",
        ),
        ('**self.inputs[seed], "format"', '"format"'),
        ("if not fresh and target.is_complete(key)", "if target.is_complete(key)"),
    ),
    *of(
        "files/atomic.py",
        (FILES,),
        (
            "            flush(temporary)\n            os.replace(temporary, target)",
            "            os.replace(temporary, target)",
        ),
        ('            for path in [*temporary.rglob("*"), temporary]:\n                flush(path)\n', ""),
        ("        os.fsync(descriptor)", "        pass"),
        ("            write_manifest(temporary)\n", ""),
    ),
    *of(
        "files/manifest.py",
        (FILES,),
        ('content_digest(file) != entry.get("sha256")', "False"),
    ),
    *of(
        "metrics.py",
        ("tests/test_metrics.py",),
        ("counts, maximize=True)].sum()", "counts)].sum()"),
    ),
    *of(
        "tables/cells.py",
        TABLES,
        ("> LEVEL / len(found)", "> LEVEL"),
        ("array.std(ddof=1)", "array.std(ddof=0)"),
    ),
    *of(
        "results/status_text.py",
        ("tests/test_status.py",),
        ("max(0.0, expected - progress.seconds)", "expected - progress.seconds"),
    ),
]
