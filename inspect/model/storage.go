package model

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"
)

// Storage is what a look into the storage says: whether the files are there that the metadata names. Whoever looked worked it
// out, so that nothing here knows how storage is reached. nil: nobody looked.
type Storage struct {
	// Location is the folder, archive or bucket.
	Location string
	// Problem is why nothing is known of any file, "" if some were found.
	Problem string
	// Lost: the place is not there, or was read and has none of the files that were looked for, as Problem says. That is so of another
	// place too; see OwnStorage.Is.
	Lost bool
	// Here: a process of the cluster runs on the machine that looked, so that the path of a folder means the same to both.
	Here bool
	// Segments is how many have files by the metadata, Looked of how many these were looked for: those first on which something waits.
	Segments, Looked int
	// Limit is why others were not looked at, "" if all were.
	Limit string
	// Unseen are places that could not be listed, and why.
	Unseen []Skipped
	// Room is what the file system of a folder says; nil: it is no folder, or says nothing.
	Room *Room
	// Missing are files that are not there, empty or cut, in the order of their segments.
	Missing []MissingFiles
}

// Room is what a file system takes.
type Room struct {
	ReadOnly bool
	// Free and Size are bytes, for those who are not root.
	Free, Size int64
}

// MissingFiles are files of one kind of a segment: the logs of a field, or an index.
type MissingFiles struct {
	Segment    SegmentID
	Collection CollectionID
	// Kind is "insert log", "delta log", "statistics", "index" or "manifest".
	Kind string
	// Field is the field that insert logs are of, or that the index is on; 0 unknown.
	Field FieldID
	// Index and Build are those of an index, else 0.
	Index IndexID
	Build BuildID
	// Path is the folder that they should be in, as names in the storage go.
	Path string
	// Found of Want files are there and not empty.
	Found, Want int
	// Bytes is how large they are together by what they say of themselves, 0 unknown; Size is how large what is there is. The metadata are
	// no measure: up to 2.3 the size of a log in them is that of its rows in memory.
	Bytes, Size int64
}

// Cut reports whether all files are there, and are shorter than they were written.
func (x *MissingFiles) Cut() bool { return x.Found >= x.Want && x.Size < x.Bytes }

// WithStorage is the same cluster with what a look into its storage says.
func (c *Cluster) WithStorage(s *Storage) *Cluster {
	next := *c
	next.Storage = s
	return &next
}

// storageRoles are those that read or write storage.
var storageRoles = [...]string{"querynode", "datanode", "datacoord", "mixcoord", "indexnode", "streamingnode", "rootcoord", "querycoord", "proxy"}

// OwnStorage is the storage of a cluster by the configuration that its processes tell. No key that holds a credential is asked for.
type OwnStorage struct {
	// Place is what --storage takes: a folder, or a bucket with its endpoint; "" if the processes do not tell.
	Place string
	// Root is the name below which the files lie in a bucket, without slashes around it; "" if nobody tells.
	Root string
}

// OwnStorage is where the cluster's files are.
func (c *Cluster) OwnStorage() OwnStorage {
	setting := func(key string) string { // as the first process tells it that reads or writes there
		s, _ := c.Setting(key, storageRoles[:]...)
		return strings.TrimSpace(s.Value)
	}
	own := OwnStorage{Root: strings.Trim(setting("minio.rootPath"), "/")}
	if strings.EqualFold(setting("common.storageType"), "local") {
		own.Place = setting("localStorage.path")
		return own
	}
	bucket, endpoint := setting("minio.bucketName"), StorageEndpoint(setting("minio.address"), setting("minio.port"))
	if bucket == "" || endpoint == "" {
		return own
	}
	own.Place = "s3://" + bucket + "?endpoint=" + strings.ReplaceAll(url.QueryEscape(endpoint), "%3A", ":")
	if !strings.EqualFold(setting("minio.useSSL"), "true") {
		own.Place += "&tls=false"
	}
	if region := setting("minio.region"); region != "" {
		own.Place += "&region=" + url.QueryEscape(region)
	}
	return own
}

// Is reports whether a place is this one. A folder is so only if a process runs on the machine that looks: the same path is
// another folder elsewhere. In a bucket it is all of it, or the root path.
func (o OwnStorage) Is(place string, here bool) bool {
	if !strings.HasPrefix(o.Place, "s3://") {
		return o.Place != "" && here && filepath.Clean(o.Place) == filepath.Clean(place)
	}
	a, errA := url.Parse(o.Place)
	b, errB := url.Parse(place)
	if errA != nil || errB != nil || b.Scheme != "s3" || a.Host != b.Host || a.Query().Get("endpoint") != b.Query().Get("endpoint") {
		return false
	}
	prefix := strings.Trim(b.Path, "/")
	return prefix == "" || prefix == o.Root
}

// StorageEndpoint joins host and port of remote storage as Milvus does (pkg/util/paramtable, service_param.go: an address may hold
// its port), without a scheme or a user part.
func StorageEndpoint(address, port string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	if i := strings.LastIndexByte(address, '@'); i >= 0 {
		address = address[i+1:]
	}
	address, _, _ = strings.Cut(address, "/")
	if _, _, err := net.SplitHostPort(address); err == nil || address == "" || port == "" {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), port)
}
