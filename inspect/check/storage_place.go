package check

import (
	"net/url"
	"strings"

	"kitescope/inspect/model"
	"kitescope/paste"
)

// storageRoles are those that read or write storage.
var storageRoles = [...]string{"querynode", "datanode", "datacoord", "mixcoord", "indexnode", "streamingnode", "rootcoord", "querycoord", "proxy"}

// storagePlace is the storage as --storage takes it, by the configuration that the processes tell: a folder, or a bucket with its
// endpoint; "" if they do not. No key that holds a credential is asked for.
func (p *Pass) storagePlace() string {
	setting := func(key string) string {
		s, _ := p.Setting(key, storageRoles[:]...)
		return strings.TrimSpace(s.Value)
	}
	if strings.EqualFold(setting("common.storageType"), "local") {
		return setting("localStorage.path")
	}
	bucket, endpoint := setting("minio.bucketName"), model.StorageEndpoint(setting("minio.address"), setting("minio.port"))
	if bucket == "" || endpoint == "" {
		return ""
	}
	place := "s3://" + bucket + "?endpoint=" + strings.ReplaceAll(url.QueryEscape(endpoint), "%3A", ":")
	if !strings.EqualFold(setting("minio.useSSL"), "true") {
		place += "&tls=false"
	}
	if region := setting("minio.region"); region != "" {
		place += "&region=" + url.QueryEscape(region)
	}
	return place
}

// lookFor is the command that looks for files in the storage.
func lookFor(place string) paste.Command {
	if place == "" {
		place = "PLACE"
	}
	return kitescope("diagnose").Flag("--storage", place)
}

// lookForFiles is what to do where files may be missing and nobody has looked; "" if somebody has.
func (p *Pass) lookForFiles() Hint {
	if p.Storage != nil {
		return ""
	}
	return advise("see whether its files are there: %s; ", lookFor(p.storagePlace()))
}
