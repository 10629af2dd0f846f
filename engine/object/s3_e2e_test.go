//go:build e2e

package object

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// The S3 tests need an S3 server; make builds a real MinIO for them.

const accessKey, secretKey = "kite-access-key", "kite-very-secret"

var minioFlag = flag.String("minio", "", "the minio binary against which S3 stores are tested")

// server starts MinIO on a free port of the loopback interface and fills a bucket.
func server(t *testing.T) (endpoint string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	endpoint = l.Addr().String()
	l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, *minioFlag, "server", "--address", endpoint, "--console-address", "127.0.0.1:0",
		t.TempDir())
	cmd.Env = []string{
		"HOME=" + t.TempDir(), "MINIO_ROOT_USER=" + accessKey, "MINIO_ROOT_PASSWORD=" + secretKey, "MINIO_UPDATE=off",
	}
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	client, err := minio.New(endpoint, &minio.Options{Creds: credentials.NewStaticV4(accessKey, secretKey, "")})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		if err = client.MakeBucket(t.Context(), "milvus-bucket", minio.MakeBucketOptions{}); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("minio does not answer: %v", err)
		}
	}
	for name, content := range contents() {
		if _, err := client.PutObject(t.Context(), "milvus-bucket", "files/"+name, bytes.NewReader(content),
			int64(len(content)), minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 1100 { // more than one page of a listing
		if _, err := client.PutObject(t.Context(), "milvus-bucket", fmt.Sprintf("many/%04d", i), strings.NewReader("x"),
			1, minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return endpoint
}

func TestS3(t *testing.T) {
	endpoint := server(t)
	keys := Keys{Access: accessKey, Secret: secretKey}
	place := "s3://milvus-bucket/files?tls=false&endpoint=" + endpoint
	t.Run("Conforms", func(t *testing.T) {
		s, err := Open(t.Context(), place, keys)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		conform(t, s)
	})
	t.Run("ManyFiles", func(t *testing.T) {
		s, err := Open(t.Context(), strings.Replace(place, "/files", "/many", 1), keys)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		files, err := s.List(t.Context(), "")
		if err != nil || len(files) != 1100 || files[1099].Name != "1099" {
			t.Errorf("%d files, %v; expected 1100", len(files), err)
		}
	})
	t.Run("Refused", func(t *testing.T) { refused(t, endpoint, place) })
	t.Run("ChangedWhileOpen", func(t *testing.T) { changed(t, endpoint, place) })
	t.Run("Deadline", func(t *testing.T) { deadline(t, keys) })
}

func refused(t *testing.T, endpoint, place string) {
	t.Helper()
	for name, c := range map[string]struct {
		place string
		keys  Keys
		want  string
	}{
		"wrong secret":  {place, Keys{Access: accessKey, Secret: "another-very-secret"}, "SignatureDoesNotMatch"},
		"unknown key":   {place, Keys{Access: "someone-else", Secret: secretKey}, "InvalidAccessKeyId"},
		"no keys":       {place, Keys{}, "AccessDenied"},
		"wrong session": {place, Keys{Access: accessKey, Secret: secretKey, Session: "a-session-token"}, ""},
		"no such bucket": {
			"s3://milvus-bucket-2/files?tls=false&endpoint=" + endpoint,
			Keys{Access: accessKey, Secret: secretKey},
			"NoSuchBucket",
		},
		"https not spoken": {
			"s3://milvus-bucket/files?endpoint=" + endpoint, Keys{Access: accessKey, Secret: secretKey}, "HTTP",
		},
		"nobody there": {
			"s3://milvus-bucket/files?tls=false&endpoint=127.0.0.1:1",
			Keys{Access: accessKey, Secret: secretKey},
			"refused",
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		_, err := Open(ctx, c.place, c.keys)
		cancel()
		if err == nil {
			t.Errorf("%s: it opened", name)
			continue
		}
		t.Logf("%s: %v", name, err)
		if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "milvus-bucket") {
			t.Errorf("%s: %v; expected %q", name, err, c.want)
		}
		for _, secret := range []string{
			secretKey, accessKey, "another-very-secret", "someone-else", "a-session-token",
		} {
			if strings.Contains(fmt.Sprintf("%v %+v", err, errors.Unwrap(err)), secret) {
				t.Errorf("%s: a credential in %v", name, err)
			}
		}
	}
}

// changed replaces an object while it is open, and checks that its reader does not mix two versions.
func changed(t *testing.T, endpoint, place string) {
	t.Helper()
	client, err := minio.New(endpoint, &minio.Options{Creds: credentials.NewStaticV4(accessKey, secretKey, "")})
	if err != nil {
		t.Fatal(err)
	}
	put := func(content string) {
		if _, err := client.PutObject(t.Context(), "milvus-bucket", "files/changing", strings.NewReader(content),
			int64(len(content)), minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	put("before")
	s, err := Open(t.Context(), place, Keys{Access: accessKey, Secret: secretKey})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Open(t.Context(), "changing")
	if err != nil {
		t.Fatal(err)
	}
	put("behind")
	if n, err := r.ReadAt(make([]byte, 6), 0); err == nil || !strings.Contains(err.Error(), "PreconditionFailed") {
		t.Errorf("read %d bytes, %v; expected that the object has changed", n, err)
	}
	if _, err := s.Open(t.Context(), "gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, expected fs.ErrNotExist", err)
	}
}

// deadline opens a store at a server that accepts connections and never responds.
func deadline(t *testing.T, keys Keys) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	before := time.Now()
	_, err = Open(ctx, "s3://silent?tls=false&endpoint="+l.Addr().String(), keys)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(before) > 5*time.Second {
		t.Errorf("after %v: %v; expected that the deadline passed", time.Since(before), err)
	}
}
