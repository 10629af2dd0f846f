package source

import (
	"slices"
	"strings"

	"kitescope/internal/hints"
)

// metaRoot is a place where Milvus keeps metadata: its etcd.rootPath and
// etcd.metaSubPath. Keys are root + "/" + sub + "/..." (Milvus
// pkg/util/paramtable/service_param.go, EtcdConfig.MetaRootPath).
type metaRoot struct{ root, sub string }

func (r metaRoot) prefix() string { return r.root + "/" + r.sub + "/" }

func (r metaRoot) String() string { return r.root + "/" + r.sub }

// defaultSubPath is Milvus's default for etcd.metaSubPath.
const defaultSubPath = "meta"

// splitRoot cuts a metadata directory ("by-dev/meta", no trailing slash) into
// root and sub path. A sub path with slashes of its own cannot be told from a
// longer root, so that the last slash decides.
func splitRoot(dir string) (metaRoot, bool) {
	i := strings.LastIndexByte(dir, '/')
	if i < 1 || i == len(dir)-1 {
		return metaRoot{}, false
	}
	return metaRoot{root: dir[:i], sub: dir[i+1:]}, true
}

// evidence returns the path elements whose presence marks a metadata directory.
// Package meta knows what such keys mean; here they only identify a root. They
// are the ones that every Milvus since 2.0 writes at its first start
// (rootcoord catalog, datacoord catalog, session registration).
func evidence() []string { return append(catalogs(), sessionID) }

// catalogs returns the evidence of a cluster. A process that was given a wrong root path registers there, too, and leaves sessionID behind.
func catalogs() []string { return []string{"root-coord/", "datacoord-meta/", "snapshots/root-coord/"} }

const sessionID = "session/id"

// rootOf finds the metadata directory that key proves to exist; cluster is false if it may have been made by a mere registration.
func rootOf(key string) (r metaRoot, cluster, ok bool) {
	best := -1
	for _, mark := range evidence() {
		i := strings.Index(key, "/"+mark)
		if i > 0 && (best < 0 || i < best) && (mark != sessionID || i+len(mark)+1 == len(key)) {
			best, cluster = i, mark != sessionID
		}
	}
	if best < 0 {
		return metaRoot{}, false, false
	}
	r, ok = splitRoot(key[:best])
	return r, cluster, ok
}

// rootName is what a person asked for: "by-dev" (rootPath) or "by-dev/meta".
type rootName string

// accepts reports whether r is what the name asks for; an empty name asks for any.
func (n rootName) accepts(r metaRoot) bool {
	name := strings.TrimSuffix(string(n), "/")
	return slices.ContainsFunc([]string{r.root, r.String()}, func(known string) bool { return name == "" || name == known || "/"+name == known })
}

// decides reports whether r is what the name asks for whatever else may be found:
// "by-dev" prefers by-dev/meta to by-dev/other; see chooseRoot.
func (n rootName) decides(r metaRoot) bool {
	exact := strings.Trim(string(n), "/") == strings.Trim(r.String(), "/")
	return n.accepts(r) && (n == "" || exact || r.sub == defaultSubPath)
}

// rootFinder collects the roots that keys prove, as a file is read.
type rootFinder struct {
	// clusters have catalogs; registered are all where processes registered.
	clusters, registered []metaRoot
	last                 string
}

// add looks at one live key and returns the root that it adds to the clusters.
func (f *rootFinder) add(key []byte) (r metaRoot, ok bool) {
	if f.last != "" && len(key) > len(f.last) && string(key[:len(f.last)]) == f.last {
		return metaRoot{}, false
	}
	r, cluster, ok := rootOf(string(key))
	switch {
	case !ok:
		return metaRoot{}, false
	case !cluster:
		f.registered = append(f.registered, r)
		return metaRoot{}, false
	}
	f.last = r.prefix()
	if slices.Contains(f.clusters, r) {
		return metaRoot{}, false
	}
	f.clusters = append(f.clusters, r)
	return r, true
}

// found returns the clusters, and if a root was named, or there are none, the roots with registrations only.
func (f *rootFinder) found(name rootName) []metaRoot {
	list := slices.Clone(f.clusters)
	for _, r := range f.registered {
		if (name != "" || len(f.clusters) == 0) && !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	return list
}

// chooseRoot picks the one root that name accepts.
func chooseRoot(where string, name rootName, found []metaRoot) (metaRoot, error) {
	var fit []metaRoot
	for _, r := range found {
		if name.accepts(r) {
			fit = append(fit, r)
		}
	}
	if len(fit) > 1 && name != "" {
		// "by-dev" fits by-dev/meta and by-dev/other: the default sub path wins.
		for _, r := range fit {
			if r.sub == defaultSubPath {
				fit = []metaRoot{r}
				break
			}
		}
	}
	if len(fit) == 1 {
		return fit[0], nil
	}
	e := &RootError{Wanted: string(name), Where: where}
	for _, r := range found {
		e.Found = append(e.Found, r.String())
	}
	slices.Sort(e.Found)
	return metaRoot{}, hints.Attach(e, rootHint(e))
}

func rootHint(e *RootError) string {
	if len(e.Found) > 0 {
		return "name one of them: --root " + e.Found[0]
	}
	return "look for the cluster's etcd.rootPath in milvus.yaml and name it with --root; " +
		"a Milvus that never started has written nothing yet"
}
