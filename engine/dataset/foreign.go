package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kitescope/internal/hints"
	"kitescope/internal/shellquote"
)

// Foreign returns an error with a conversion command if path is a file or directory in a known but unsupported
// vector format. It decides by file name. It returns nil for other files.
func Foreign(path string) error {
	quoted := shellquote.Word(path)
	switch ending := strings.ToLower(filepath.Ext(path)); ending {
	case ".npz":
		return hints.Errorf("extract its arrays as .npy files: python3 -c "+
			"'import numpy,sys; f=numpy.load(sys.argv[1]); [numpy.save(k,f[k]) for k in f.files]' "+quoted,
			"an archive of NumPy (.npz) is not supported")
	case ".fbin", ".u8bin", ".i8bin", ".ibin":
		kind := map[string]string{".fbin": "float32", ".u8bin": "uint8", ".i8bin": "int8", ".ibin": "int32"}[ending]
		to := kind
		if kind == "uint8" {
			to = "float32" // here, uint8 holds bits
		}
		return hints.Errorf("convert it to out.npy: python3 -c \"import numpy,sys; "+
			"n,d=map(int,numpy.fromfile(sys.argv[1],'uint32',2)); "+
			"numpy.save('out.npy',numpy.fromfile(sys.argv[1],'"+kind+"',n*d,offset=8).reshape(n,d).astype('"+to+
			"'))\" "+quoted,
			"a file of big-ann-benchmarks (%s, %s values after two counts) is not supported", ending, kind)
	}
	folder := path
	if slices.Contains(chromaFiles, filepath.Base(path)) {
		folder = filepath.Dir(path)
	}
	for _, name := range chromaFiles {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return nil //nolint:nilerr // without one of its files it is another folder
		}
	}
	return hints.Errorf("convert it to vectors.npy, in the order of its labels (after pip install chroma-hnswlib, "+
		"with the dimension for 384): python3 -c "+
		"'import hnswlib,numpy,sys; i=hnswlib.Index(\"l2\",int(sys.argv[2])); "+
		"i.load_index(sys.argv[1],is_persistent_index=True); "+
		"numpy.save(\"vectors.npy\",i.get_items(sorted(i.get_ids_list())))' "+shellquote.Word(folder)+" 384",
		"an index folder of Chroma (its own form of hnswlib) is not supported")
}

// chromaFiles lists the files in a directory written by Chroma's fork of hnswlib.
var chromaFiles = []string{"header.bin", "data_level0.bin", "length.bin", "link_lists.bin"}
