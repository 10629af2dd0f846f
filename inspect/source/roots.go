package source

import (
	"slices"
	"strings"

	"kitescope/internal/hints"
)

// metaRoot is a location of Milvus metadata: its etcd.rootPath and etcd.metaSubPath. Keys are root + "/" + sub
// + "/..." (Milvus pkg/util/paramtable/service_param.go, EtcdConfig.MetaRootPath).
type metaRoot struct{ root, sub string }

func (r metaRoot) prefix() string { return r.root + "/" + r.sub + "/" }

func (r metaRoot) String() string { return r.root + "/" + r.sub }

// defaultSubPath is Milvus's default for etcd.metaSubPath.
const defaultSubPath = "meta"

// splitRoot splits a metadata directory ("by-dev/meta", without a trailing slash) into root and sub path. It
// splits at the last slash, because a sub path with slashes cannot be distinguished from a longer root.
func splitRoot(dir string) (metaRoot, bool) {
	i := strings.LastIndexByte(dir, '/')
	if i < 1 || i == len(dir)-1 {
		return metaRoot{}, false
	}
	return metaRoot{root: dir[:i], sub: dir[i+1:]}, true
}

// rootMarkers returns the path elements that mark a metadata directory. Package meta decodes such keys; here they
// only identify a root. Every Milvus since 2.0 writes them at its first start (rootcoord catalog, datacoord
// catalog, session registration).
func rootMarkers() []string { return append(catalogs(), sessionID) }

// catalogs returns the path elements that mark a cluster. A process that was started with a wrong root path
// also registers there, but leaves only sessionID behind.
func catalogs() []string { return []string{"root-coord/", "datacoord-meta/", "snapshots/root-coord/"} }

const sessionID = "session/id"

// rootOf returns the metadata directory that contains key. cluster is false if a mere registration may have
// created it.
func rootOf(key string) (r metaRoot, cluster, ok bool) {
	best := -1
	for _, mark := range rootMarkers() {
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

// rootName is a root requested by the user: "by-dev" (rootPath) or "by-dev/meta".
type rootName string

// accepts reports whether r matches the name. An empty name matches any root.
func (n rootName) accepts(r metaRoot) bool {
	name := strings.TrimSuffix(string(n), "/")
	return slices.ContainsFunc([]string{r.root, r.String()}, func(known string) bool {
		return name == "" || name == known || "/"+name == known
	})
}

// matchesExactly reports whether r matches the name regardless of other roots. For example, "by-dev" prefers
// by-dev/meta to by-dev/other; see chooseRoot.
func (n rootName) matchesExactly(r metaRoot) bool {
	exact := strings.Trim(string(n), "/") == strings.Trim(r.String(), "/")
	return n.accepts(r) && (n == "" || exact || r.sub == defaultSubPath)
}

// rootFinder collects roots from the keys of a file.
type rootFinder struct {
	// clusters holds roots with catalogs. registered holds roots with registrations of processes.
	clusters, registered []metaRoot
	last                 string
}

// add examines one live key. It returns the root and true if the key adds a root to clusters.
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

// found returns the clusters. It includes roots with registrations only if name is not empty or no cluster
// was found.
func (f *rootFinder) found(name rootName) []metaRoot {
	list := slices.Clone(f.clusters)
	for _, r := range f.registered {
		if (name != "" || len(f.clusters) == 0) && !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	return list
}

// chooseRoot returns the only root that name accepts, or a *RootError.
func chooseRoot(where string, name rootName, found []metaRoot) (metaRoot, error) {
	var fit []metaRoot
	for _, r := range found {
		if name.accepts(r) {
			fit = append(fit, r)
		}
	}
	if len(fit) > 1 && name != "" {
		// "by-dev" matches by-dev/meta and by-dev/other: prefer the default sub path.
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
