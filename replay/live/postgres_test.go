package live

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"kitescope/engine/dist"
)

// TestParametersInBinaryForm compares with the bytes that PostgreSQL 16 and pgvector 0.6.2 and 0.8.5 send for the
// same values in binary format.
func TestParametersInBinaryForm(t *testing.T) {
	v := vectors(t, 1, -2.5, 0, 3e-45)
	for name, c := range map[string]struct {
		got  []byte
		want string
	}{
		"vector": {
			appendVector(nil, dist.Float32, 4, v.Row(0)),
			"00040000" + "3f800000" + "c0200000" + "00000000" + "00000002",
		},
		"halfvec": {appendVector(nil, dist.Float16, 2, []byte{0x00, 0x3c, 0x01, 0xc0}), "00020000" + "3c00" + "c001"},
		"bit":     {appendVector(nil, dist.Bit, 16, []byte{0xf0, 0x01}), "00000010" + "f001"},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestMilvusDistance checks that squared L2 distances are exact: pgvector computes the root of a float32 in double
// precision, whose square rounds to the same float32.
func TestMilvusDistance(t *testing.T) {
	for bits := uint32(1 << 23); bits < 0x7f000000; bits += 99991 {
		want := math.Float32frombits(bits)
		if got := milvusDistance("L2", math.Sqrt(float64(want))); got != want {
			t.Fatalf("%v comes back as %v", want, got)
		}
	}
	if milvusDistance("IP", -0.25) != 0.25 || milvusDistance("COSINE", 0.25) != 0.75 ||
		milvusDistance("HAMMING", 7) != 7 {
		t.Error("similarities are not those of Milvus")
	}
}

func TestMetricsOfClasses(t *testing.T) {
	for class, want := range map[string]string{
		"vector_l2_ops": "L2", "halfvec_ip_ops": "IP", "vector_cosine_ops": "COSINE", "vector_l1_ops": "L1",
		"bit_hamming_ops": "HAMMING",
		"bit_jaccard_ops": "JACCARD", "int8_ops": "",
	} {
		if got := metricOf(class); got != want {
			t.Errorf("%s: %s, want %s", class, got, want)
		}
	}
	if _, ok := operator("HAMMING", dist.Float32); ok {
		t.Error("vectors have no Hamming distance")
	}
}

func TestServerFaults(t *testing.T) {
	p := &postgres{addr: &address{host: "h:5432"}, o: &Options{Deadline: time.Second}}
	for code, want := range map[string]Kind{
		"28P01": Denied, "3D000": NotFound, "42501": Denied, "42P01": NotFound, "57014": TimedOut,
		"53300": Limited, "57P01": Unreachable, "22000": Failed, "": Failed,
	} {
		var f *FaultError
		err := p.fault(t.Context(), &pgconn.PgError{Code: code, Message: "no\nmore"})
		if !errors.As(err, &f) || f.Kind != want || strings.Contains(f.Reason, "\n") {
			t.Errorf("%s: %+v, want %s", code, err, want)
		}
	}
}

// fakePostgres serves connections without TLS, and returns a function that opens a target on it.
func fakePostgres(t *testing.T, serve func(net.Conn)) func(parameters string) error {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				const wantsTLS = 8 // bytes
				if n, _ := conn.Read(make([]byte, 4<<10)); n == wantsTLS {
					_, _ = conn.Write([]byte("N"))
					return
				}
				serve(conn)
			}()
		}
	}()
	host := listener.Addr().String()
	return func(parameters string) error {
		o := &Options{
			Deadline: 3 * time.Second, Collection: "c",
			Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, address)
			},
		}
		_, err := openPostgres(t.Context(),
			&address{scheme: "postgres", uri: "postgres://u:sesame@" + host + "/d" + parameters, host: host}, o)
		return err
	}
}

// TestPostgresAnswerLimit checks that a server that announces parameters without end is an error.
func TestPostgresAnswerLimit(t *testing.T) {
	open := fakePostgres(t, func(conn net.Conn) {
		out := bufio.NewWriter(conn)
		fmt.Fprint(out, "R\x00\x00\x00\x08\x00\x00\x00\x00") // authentication succeeded
		value := strings.Repeat("x", 8192)
		for n := 0; ; n++ {
			if _, err := fmt.Fprintf(out, "S\x00\x00\x20\x0e%08d\x00%s\x00", n, value); err != nil {
				return
			}
		}
	})
	start := time.Now()
	if err := open(""); err == nil || !strings.Contains(err.Error(), "does not respond like PostgreSQL") ||
		time.Since(start) > 20*time.Second {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}

// TestPostgresPasswordWithoutTLS checks that a password, or its MD5 hash, is sent without TLS only if the user
// turned TLS off.
func TestPostgresPasswordWithoutTLS(t *testing.T) {
	for asked, x := range map[string]struct{ sent, problem string }{
		"R\x00\x00\x00\x08\x00\x00\x00\x03":     {"sesame", "requests the password in clear text"},
		"R\x00\x00\x00\x0c\x00\x00\x00\x05salt": {"md5", "requests the password as MD5"},
	} {
		got := make(chan string, 10)
		open := fakePostgres(t, func(conn net.Conn) {
			fmt.Fprint(conn, asked)
			text := make([]byte, 100)
			n, _ := conn.Read(text)
			got <- string(text[:n])
		})
		for parameters, sent := range map[string]bool{
			"": false, "?sslmode=prefer": false, "?sslmode=allow": false, "?sslmode=disable": true,
		} {
			err := open(parameters)
			if text := <-got; strings.Contains(text, x.sent) != sent || err == nil ||
				strings.Contains(err.Error(), x.problem) == sent {
				t.Errorf("%q: %q, %v", parameters, text, err)
			}
		}
	}
}

// TestPostgresTLSTimeout checks that the error of a hanging server is a timeout, even if it may lack TLS.
func TestPostgresTLSTimeout(t *testing.T) {
	over := make(chan struct{})
	defer close(over)
	open := fakePostgres(t, func(net.Conn) { <-over })
	if err := open(""); err == nil || !strings.Contains(err.Error(), "no response within") {
		t.Error(err)
	}
}

// TestPostgresSCRAM checks that a login that fails on a server without TLS is not reported as missing TLS.
func TestPostgresSCRAM(t *testing.T) {
	open := fakePostgres(t, func(conn net.Conn) {
		fmt.Fprint(conn, "R\x00\x00\x00\x17\x00\x00\x00\x0aSCRAM-SHA-256\x00\x00")
		text := make([]byte, 200)
		n, _ := conn.Read(text)
		_, nonce, _ := strings.Cut(string(text[:n]), "r=")
		first := "r=" + nonce + "x,s=c2FsdA==,i=2000000000"
		fmt.Fprintf(conn, "R\x00\x00\x00%c\x00\x00\x00\x0b%s", len(first)+8, first)
	})
	if err := open(""); err == nil || !strings.Contains(err.Error(), "does not log in by SCRAM") {
		t.Error(err)
	}
}
