package object

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"kitescope/internal/redact"
)

// S3 is the location of a bucket and the way to access it.
type S3 struct {
	Endpoint string // host or host:port of MinIO or another server; empty for AWS
	Bucket   string
	Prefix   string // prefix of every name, which List removes: Milvus's minio.rootPath
	Region   string // if empty, it is requested from the server
	Insecure bool   // http instead of https
	Keys     Keys
}

// Keys holds credentials. Without an access key, requests are anonymous.
type Keys struct {
	Access  string
	Secret  Secret
	Session Secret // session token of temporary credentials
}

// Secret is a string that no verb of fmt prints.
type Secret string

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// GoString prevents %#v from printing the secret.
func (s Secret) GoString() string { return s.String() }

// MarshalText prevents encoders from writing the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// OpenS3 opens a bucket of an S3-compatible server, and lists one name to check that the bucket can be read. It
// uses the API calls ListObjectsV2, HeadObject, GetObject and, if no region is set, GetBucketLocation. Requests
// end with the context of List or Open; requests of a Reader end with the context of its Open. Errors contain
// no credentials.
func OpenS3(ctx context.Context, c S3) (Store, error) {
	endpoint := c.Endpoint
	endpoint = cmp.Or(endpoint, "s3.amazonaws.com")
	if c.Bucket == "" || strings.ContainsAny(endpoint, "/@?#") {
		return nil,
			fmt.Errorf("bucket %q at endpoint %q: a name and host:port are needed", c.Bucket, redactHost(endpoint))
	}
	creds := credentials.NewStaticV4(c.Keys.Access, string(c.Keys.Secret), string(c.Keys.Session))
	if c.Keys.Access == "" {
		creds = credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	}
	transport, err := minio.DefaultTransport(!c.Insecure)
	if err != nil {
		return nil, err
	}
	client, err := minio.NewCore(endpoint, &minio.Options{
		Creds: creds, Secure: !c.Insecure, Region: c.Region, Transport: transport, MaxRetries: requestTries,
	})
	if err != nil {
		transport.CloseIdleConnections()
		return nil, err
	}
	prefix := strings.Trim(c.Prefix, "/")
	if prefix != "" {
		prefix += "/"
	}
	b := &bucket{
		listing: client.Client.ListObjects, stat: client.StatObject, get: client.GetObject,
		transport: transport, endpoint: endpoint, name: c.Bucket, prefix: prefix, keys: c.Keys,
	}
	for object := range b.list(ctx, "", 1) {
		if object.Err != nil {
			_ = b.Close()
			return nil, b.wrap("list", prefix, object.Err)
		}
		break
	}
	return b, nil
}

const (
	requestTries = 6 // tries of a request that fails temporarily; the library waits up to a second between tries
	bodyTries    = 3 // tries of a read whose connection is cut before all bytes arrive
)

// redactHost removes the part of a URL that looks like credentials.
func redactHost(endpoint string) string {
	return endpoint[strings.LastIndexByte(endpoint, '@')+1:]
}

type bucket struct {
	// The methods of a minio.Core instead of the Core itself. If reflection reaches the type of a field, the linker
	// keeps all methods of the type, because templates call methods by name. This was 1.5 MB of requests that write.
	listing func(context.Context, string, minio.ListObjectsOptions) <-chan minio.ObjectInfo
	stat    func(context.Context, string, string, minio.StatObjectOptions) (minio.ObjectInfo, error)
	get     func(
		context.Context, string, string, minio.GetObjectOptions,
	) (io.ReadCloser, minio.ObjectInfo, http.Header, error)

	transport *http.Transport
	endpoint  string
	name      string
	prefix    string
	keys      Keys
}

func (b *bucket) String() string { return "s3://" + b.name + "/" + b.prefix + " at " + b.endpoint }

func (b *bucket) Close() error {
	b.transport.CloseIdleConnections()
	return nil
}

func (b *bucket) List(ctx context.Context, prefix string) ([]File, error) {
	if dir := path.Dir(prefix + "x"); !fs.ValidPath(dir) {
		return nil, nil // no file has such a name, and servers reject it
	}
	var files []File
	for object := range b.list(ctx, prefix, 0) {
		if object.Err != nil {
			return nil, b.wrap("list", b.prefix+prefix, object.Err)
		}
		if strings.HasSuffix(object.Key, "/") {
			continue // a folder marker that some tool created
		}
		files = append(files, File{Name: strings.TrimPrefix(object.Key, b.prefix), Size: object.Size})
	}
	if err := ctx.Err(); err != nil { // the client closes its channel without an error
		return nil, b.wrap("list", b.prefix+prefix, err)
	}
	sortFiles(files)
	return files, nil
}

// list yields the objects below a prefix. It leaves no goroutine behind if the caller stops early.
func (b *bucket) list(ctx context.Context, prefix string, keys int) func(func(minio.ObjectInfo) bool) {
	return func(yield func(minio.ObjectInfo) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for o := range b.listing(ctx, b.name, minio.ListObjectsOptions{
			Prefix: b.prefix + prefix, Recursive: true, MaxKeys: keys,
		}) {
			if !yield(o) {
				return
			}
		}
	}
}

func (b *bucket) Open(ctx context.Context, name string) (Reader, error) {
	if !fs.ValidPath(name) {
		return nil, notExist(name)
	}
	info, err := b.stat(ctx, b.name, b.prefix+name, minio.StatObjectOptions{})
	if err != nil {
		return nil, b.wrap("open", b.prefix+name, err)
	}
	return &object{bucket: b, ctx: ctx, key: b.prefix + name, etag: info.ETag, size: info.Size}, nil
}

// object reads ranges of a file in a bucket, each with a separate request. All ranges are of the version that
// existed when the file was opened.
type object struct {
	bucket *bucket
	ctx    context.Context // io.ReaderAt takes no context; see OpenS3 for the scope of this one
	key    string
	etag   string
	size   int64
}

func (o *object) Size() int64 { return o.size }

func (o *object) Close() error { return nil }

func (o *object) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= o.size {
		if off >= 0 && len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	want := min(int64(len(p)), o.size-off)
	if want == 0 {
		return 0, nil
	}
	done := 0
	for try := 1; ; try++ {
		n, err := o.get(p[done:want], off+int64(done))
		done += n
		switch {
		case err == nil && want < int64(len(p)):
			return done, io.EOF
		case err == nil:
			return done, nil
		case try == bodyTries || n == 0 || o.ctx.Err() != nil:
			return done, o.bucket.wrap("read", o.key, err)
		}
	}
}

// get fills p with the bytes at an offset. The library retries failed requests, but not a body that is cut
// short.
func (o *object) get(p []byte, off int64) (int, error) {
	var opts minio.GetObjectOptions
	if err := opts.SetRange(off, off+int64(len(p))-1); err != nil {
		return 0, err
	}
	if o.etag != "" {
		if err := opts.SetMatchETag(o.etag); err != nil {
			return 0, err
		}
	}
	body, _, _, err := o.bucket.get(o.ctx, o.bucket.name, o.key, opts)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	return io.ReadFull(body, p)
}

// ErrNoBucket is returned if the server responds and the bucket does not exist.
var ErrNoBucket = errors.New("no such bucket")

// wrap returns an error with the operation, the key and the reason, without credentials.
func (b *bucket) wrap(op, key string, err error) error {
	response := minio.ToErrorResponse(err)
	if response.Code == minio.NoSuchKey {
		return &fs.PathError{Op: op, Path: "s3://" + b.name + "/" + key, Err: fs.ErrNotExist}
	}
	said := err.Error()
	if response.Code != "" {
		said = response.Code + ": " + strings.TrimSuffix(response.Message, ".")
	}
	for _, own := range []string{string(b.keys.Secret), string(b.keys.Session), b.keys.Access} {
		if own != "" {
			said = strings.ReplaceAll(said, own, "***")
		}
	}
	said = redact.Text(said) // and any other secrets in the response of the store
	e := &s3Error{what: fmt.Sprintf("%s s3://%s/%s at %s: %s", op, b.name, key, b.endpoint, said)}
	if response.Code == minio.NoSuchBucket {
		e.cause = ErrNoBucket
	}
	// Keep only the causes that callers check with errors.Is: a full chain could print the removed text.
	for _, cause := range []error{context.DeadlineExceeded, context.Canceled, io.ErrUnexpectedEOF} {
		if errors.Is(err, cause) {
			e.cause = cause
		}
	}
	return e
}

type s3Error struct {
	what  string
	cause error
}

func (e *s3Error) Error() string { return e.what }
func (e *s3Error) Unwrap() error { return e.cause }
