"""vectors.py NPY...  writes name, shape, element type and the SHA-256 of the rows of the arrays
that were inserted (row i has the primary key i): what a test holds vectors from binlogs against."""
import hashlib, os, sys
import numpy as np

for name in sys.argv[1:]:
    a = np.load(name)
    print(os.path.basename(name)[:-4], "x".join(map(str, a.shape)), a.dtype, hashlib.sha256(a.tobytes()).hexdigest(), sep="\t")
