package layout

import (
	"strings"

	"kitescope/inspect/model"
	"kitescope/replay"
)

// roles are the roles that access storage, in order of precedence. Query nodes come first, because their work is
// replayed.
var roles = [...]string{
	"querynode", "datanode", "datacoord", "mixcoord", "indexnode", "streamingnode", "rootcoord", "querycoord", "proxy",
}

func (b *builder) setting(key string) string {
	s, _ := b.Setting(key, roles[:]...)
	return strings.TrimSpace(s.Value)
}

// storage returns the location of the files in the configuration. It reads no setting that holds a credential.
func (b *builder) storage() replay.Storage {
	s := replay.Storage{Folder: b.setting("localStorage.path")}
	switch strings.ToLower(b.setting("common.storageType")) {
	case "local":
		s.Kind = "local"
		return s
	case "minio", "remote", "opendal":
		s.Kind = "remote"
	default:
		if b.setting("minio.bucketName") == "" {
			return s
		}
	}
	s.Folder = ""
	s.Endpoint = model.StorageEndpoint(b.setting("minio.address"), b.setting("minio.port"))
	s.Bucket, s.Region = b.setting("minio.bucketName"), b.setting("minio.region")
	s.TLS = strings.EqualFold(b.setting("minio.useSSL"), "true")
	return s
}

// root returns the path before insert_log in file names. In remote storage it is minio.rootPath. In local storage
// it is "" since 2.2, because names are relative to the folder (internal/storage, local_chunk_manager.go); in 2.1
// they start with minio.rootPath.
func (b *builder) root() string {
	configured := strings.Trim(b.setting("minio.rootPath"), "/")
	switch {
	case b.l.Storage.Kind == "remote" || b.before(2):
		if configured == "" {
			configured = "files"
			b.note("minio.rootPath is not in the configuration: assuming Milvus's default, files")
		}
		return configured
	case b.l.Storage.Kind == "local":
		return ""
	}
	b.note("the path of the files is not in the configuration: paths are relative to the folder with insert_log")
	return ""
}
