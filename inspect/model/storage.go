package model

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"
)

// Storage is the result of checking whether the files named by the metadata exist in storage. The scanner
// computes it, which keeps this package independent of storage access. nil means that storage was not checked.
type Storage struct {
	// Location is the folder, archive or bucket.
	Location string
	// Problem is the reason why no files are known, "" if some were found.
	Problem string
	// Lost is true if the location does not exist, or was read and has none of the expected files; Problem has
	// the reason. A wrong location looks the same, see ConfiguredStorage.Matches.
	Lost bool
	// Local is true if a process of the cluster runs on the scanning machine, so a folder's path is the same for
	// both.
	Local bool
	// Segments is the number of segments with files in the metadata. Checked is the number checked, those first
	// that something waits for.
	Segments, Checked int
	// Limit is the reason why the remaining segments were not checked, "" if all were.
	Limit string
	// Unseen are the places that could not be listed, with the reason.
	Unseen []Skipped
	// DiskSpace is the state of the file system of a folder. It is nil for other locations and if unknown.
	DiskSpace *DiskSpace
	// Missing are files that do not exist, are empty or truncated, by segment.
	Missing []MissingFiles
}

// DiskSpace is the capacity of a file system.
type DiskSpace struct {
	ReadOnly bool
	// Free and Size are in bytes. Free is the space available to non-root users.
	Free, Size int64
}

// MissingFiles are missing files of one kind of a segment: the logs of a field, or an index.
type MissingFiles struct {
	Segment    SegmentID
	Collection CollectionID
	// Kind is "insert log", "delta log", "statistics", "index" or "manifest".
	Kind string
	// Field is the field of insert logs or of an index, 0 if unknown.
	Field FieldID
	// Index and Build identify an index, else 0.
	Index IndexID
	Build BuildID
	// Path is the expected folder, as a name in the storage.
	Path string
	// Found files of Want exist and are not empty.
	Found, Want int
	// Bytes is the total size according to the files themselves, 0 if unknown. Size is the total size of the
	// existing files. Sizes in the metadata are not comparable: up to 2.3 the recorded size of a log is the
	// size of its rows in memory.
	Bytes, Size int64
}

// Truncated reports whether all files exist but are shorter than they were written.
func (x *MissingFiles) Truncated() bool { return x.Found >= x.Want && x.Size < x.Bytes }

// WithStorage returns a copy of the cluster with the result of a storage check.
func (c *Cluster) WithStorage(s *Storage) *Cluster {
	next := *c
	next.Storage = s
	return &next
}

// storageRoles are the roles that read or write storage.
var storageRoles = [...]string{
	"querynode", "datanode", "datacoord", "mixcoord", "indexnode", "streamingnode", "rootcoord", "querycoord", "proxy",
}

// ConfiguredStorage is the storage of a cluster according to the configuration of its processes. It reads no keys with
// credentials.
type ConfiguredStorage struct {
	// Place is an argument for --storage: a folder, or a bucket with its endpoint. "" if not reported.
	Place string
	// Root is the root path in a bucket, without surrounding slashes. "" if not reported.
	Root string
}

// ConfiguredStorage returns the location of the cluster's files.
func (c *Cluster) ConfiguredStorage() ConfiguredStorage {
	setting := func(key string) string { // from the first process that reads or writes storage
		s, _ := c.Setting(key, storageRoles[:]...)
		return strings.TrimSpace(s.Value)
	}
	own := ConfiguredStorage{Root: strings.Trim(setting("minio.rootPath"), "/")}
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

// Matches reports whether place is this storage. A folder matches only if a process runs on the scanning machine,
// because the same path is another folder elsewhere. In a bucket, place is the whole bucket or the root path.
func (o ConfiguredStorage) Matches(place string, here bool) bool {
	if !strings.HasPrefix(o.Place, "s3://") {
		return o.Place != "" && here && filepath.Clean(o.Place) == filepath.Clean(place)
	}
	a, errA := url.Parse(o.Place)
	b, errB := url.Parse(place)
	if errA != nil || errB != nil || b.Scheme != "s3" || a.Host != b.Host ||
		a.Query().Get("endpoint") != b.Query().Get("endpoint") {
		return false
	}
	prefix := strings.Trim(b.Path, "/")
	return prefix == "" || prefix == o.Root
}

// StorageEndpoint joins the host and port of remote storage the way Milvus does (pkg/util/paramtable,
// service_param.go): the address may already contain the port. It removes a scheme and a user part.
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
