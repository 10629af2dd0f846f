package live

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/replay/load"
)

// The conversations in testdata/mariadb were recorded from a real MariaDB 11.8.9. To record them, set
// KITESCOPE_RECORD_MARIADB=user:password@host:port. The tests then create their tables in the database test_kite,
// for which the user needs the privileges, and record the traffic.

// recordedPacket is the data that one side sent before the other side responded.
type recordedPacket struct {
	Server bool
	Bytes  []byte
}

// packetServer is a server that replays recorded responses, connection by connection. In recording mode it is a
// proxy to a real server.
type packetServer struct {
	t     *testing.T
	real  string
	path  string
	mu    sync.Mutex
	known [][]recordedPacket
	next  int
	wait  sync.WaitGroup
}

// servePackets starts a conversation. It returns its address, and the user and password of the recording.
func servePackets(t *testing.T, name string) (address, user string) {
	t.Helper()
	c := &packetServer{t: t, path: filepath.Join("testdata", "mariadb", name+".json")}
	user = "kite:sesame"
	if with := os.Getenv("KITESCOPE_RECORD_MARIADB"); with != "" {
		at := strings.LastIndex(with, "@")
		user, c.real = with[:at], with[at+1:]
		fillMariaDB(t, c.real, user)
	} else {
		text, err := os.ReadFile(c.path)
		if err == nil {
			err = json.Unmarshal(text, &c.known)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.wait.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.mu.Lock()
			n := c.next
			c.next++
			c.mu.Unlock()
			c.wait.Go(func() { c.serve(conn, n) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		c.wait.Wait()
		if c.real == "" {
			return
		}
		text, err := json.Marshal(c.known)
		if err == nil {
			err = os.WriteFile(c.path, append(text, '\n'), 0o600)
		}
		if err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), user
}

func (c *packetServer) serve(conn net.Conn, n int) {
	defer conn.Close()
	if c.real != "" {
		c.record(conn, n)
		return
	}
	if n >= len(c.known) {
		c.t.Errorf("connection %d was not recorded", n)
		return
	}
	for i, s := range c.known[n] {
		if s.Server {
			_, _ = conn.Write(s.Bytes)
			continue
		}
		got := make([]byte, 4) // header of a MySQL packet: its length and its number
		if _, err := io.ReadFull(conn, got); err != nil {
			c.t.Errorf("connection %d, turn %d: %v", n, i, err)
			return
		}
		got = append(got, make([]byte, int(got[0])|int(got[1])<<8|int(got[2])<<16)...)
		if _, err := io.ReadFull(conn, got[4:]); err != nil {
			c.t.Errorf("connection %d, turn %d: %v", n, i, err)
			return
		}
		// The first packet has the driver's name and version, and a proof of the password that a recorded server
		// does not check.
		if i > 1 && !bytes.Equal(got, s.Bytes) {
			c.t.Errorf("connection %d, turn %d: said %q, recorded is %q", n, i, got, s.Bytes)
			return
		}
	}
}

func (c *packetServer) record(conn net.Conn, n int) {
	there, err := (&net.Dialer{}).DialContext(c.t.Context(), "tcp", c.real)
	if err != nil {
		c.t.Error(err)
		return
	}
	c.mu.Lock()
	for len(c.known) <= n {
		c.known = append(c.known, nil)
	}
	c.mu.Unlock()
	pass := func(to, from net.Conn, server bool) {
		buffer := make([]byte, 1<<16)
		for {
			k, err := from.Read(buffer)
			if k > 0 {
				c.mu.Lock()
				turns := c.known[n]
				if len(turns) == 0 || turns[len(turns)-1].Server != server {
					turns = append(turns, recordedPacket{Server: server})
				}
				turns[len(turns)-1].Bytes = append(turns[len(turns)-1].Bytes, buffer[:k]...)
				c.known[n] = turns
				c.mu.Unlock()
				_, _ = to.Write(buffer[:k])
			}
			if err != nil {
				_ = to.Close()
				return
			}
		}
	}
	var both sync.WaitGroup
	both.Go(func() { pass(conn, there, true) })
	pass(there, conn, false)
	both.Wait()
}

// fillMariaDB creates the tables. Only this test has statements that write.
func fillMariaDB(t *testing.T, address, user string) {
	t.Helper()
	db, err := sql.Open("mysql", user+"@tcp("+address+")/test_kite?interpolateParams=true")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run := func(statement string, values ...any) {
		if _, err := db.ExecContext(t.Context(), statement, values...); err != nil {
			t.Fatalf("%.60s: %v", statement, err)
		}
	}
	for table, index := range map[string]string{
		"items": ", VECTOR INDEX (vec) m=8", "Odd `Name`": ", VECTOR INDEX `by ``vec` (vec) distance=cosine",
		"plain": "", "two": ", other VECTOR(4) NOT NULL", "none": "",
	} {
		run("DROP TABLE IF EXISTS " + mariaQuoted(table))
		vector := "vec VECTOR(8) NOT NULL, "
		if table == "none" {
			vector = "x BLOB, "
		}
		run("CREATE TABLE " + mariaQuoted(table) + " (num BIGINT PRIMARY KEY, " + vector +
			"tag VARCHAR(40) NOT NULL UNIQUE" + index + ")")
		if table == "two" || table == "none" {
			continue
		}
		for i, row := range testVectors(dist.Float32) {
			v := queryOf(t, dist.Float32, row)
			run("INSERT INTO "+mariaQuoted(table)+" VALUES (?, ?, ?)", i*10, v.Row(0), fmt.Sprintf("t \"%d\"", i))
		}
		run("ANALYZE TABLE " + mariaQuoted(table))
	}
}

// TestMariaDBSearch compares answers of a server with distances in double precision.
func TestMariaDBSearch(t *testing.T) {
	address, user := servePackets(t, "answers")
	rows := testVectors(dist.Float32)
	queries := queryOf(t, dist.Float32, rows[7], scaled(rows[20], rows[21], dist.Float32), rows[3])
	for _, c := range []struct{ table, metric, index string }{
		{"items", "L2", "hnsw"},
		{"Odd `Name`", "COSINE", "hnsw"},
		{"plain", "L2", ""},
		{"plain", "COSINE", ""},
		{"items", "COSINE", ""},
	} {
		for _, key := range []string{"num", "tag"} {
			o := Options{Collection: c.table, KeyField: map[bool]string{true: "tag"}[key == "tag"], Dim: 8}
			if c.index == "" {
				o.Metric = c.metric
			}
			target, err := Open(t.Context(), "mariadb://"+user+"@"+address+"/test_kite", o)
			if err != nil {
				t.Fatalf("%s: %v", c.table, err)
			}
			if d := target.Description(); d.Metric != c.metric || d.Index != c.index || d.Dim != 8 ||
				d.KeyField != key {
				t.Errorf("%s: described as %+v", c.table, d)
			}
			checkAnswers(t, target, key, c.metric, rows, queries, nil, false)
			checkAnswers(t, target, key, c.metric, rows, queries, []int{7, 3, 5, 100, 1000}, false)
			checkAnswers(t, target, key, c.metric, rows, queries, []int{7, 3, 5, 100, 1000}, true)
		}
	}
}

func TestMariaDBRefusals(t *testing.T) {
	address, user := servePackets(t, "refusals")
	at := "mariadb://" + user + "@" + address
	for _, c := range []struct {
		uri  string
		o    Options
		kind Kind
		want string
	}{
		{at + "/test_kite?table=nothing", Options{}, NotFound, "table nothing is not in database test_kite"},
		{at + "/test_kite?table=none", Options{}, Mismatch, "has no vector column"},
		{at + "/test_kite?table=two", Options{}, Mismatch, "several vector columns: vec, other"},
		{at + "/test_kite?table=plain", Options{}, Mismatch, "no index to take the metric from"},
		{at + "/test_kite?table=items", Options{Metric: "IP"}, Mismatch, "MariaDB has no metric IP"},
		{at + "/test_kite?table=items", Options{Field: "tag"}, Mismatch, "column tag of items has type varchar"},
		{at + "/test_kite?table=items", Options{Field: "no"}, NotFound, "table items has no column no"},
		{at + "/test_kite?table=items", Options{KeyField: "no"}, Mismatch, "no column no"},
		{at + "/test_kite?table=items", Options{Dim: 9}, Mismatch, "vectors of 8 dims, the log float of 9"},
		{at + "/test_nowhere?table=items", Options{}, NotFound, "not found: Unknown database"},
		{
			"mariadb://kite:wrong@" + address + "/test_kite?table=items",
			Options{},
			Denied,
			"does not accept the credentials",
		},
	} {
		_, err := Open(t.Context(), c.uri, c.o)
		var f *FaultError
		if !errors.As(err, &f) || f.Kind != c.kind || !strings.Contains(f.Reason, c.want) ||
			strings.Contains(f.Reason+f.Hint(), "sesame") || strings.Contains(f.Reason, "wrong") {
			t.Errorf("%s %+v: %+v, want %s: %s", c.uri, c.o, err, c.kind, c.want)
		}
	}
	// The server itself restricts a session to reading, for any statement.
	target, err := Open(t.Context(), at+"/test_kite?table=items", Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := session(t, target).(*mariaSession)
	_, err = s.db.ExecContext(t.Context(), "DELETE FROM items WHERE num = 1")
	if f := s.fault(t.Context(), err); f == nil || !strings.Contains(f.Error(), "READ ONLY transaction") {
		t.Errorf("it may delete: %v", f)
	}
}

func TestMariaDBAddresses(t *testing.T) {
	for uri, want := range map[string]string{
		"mariadb://h/db?table=a&x=1":         "unknown parameter of the target's address: x",
		"mariadb://h/db?table=a&table=b":     "several table",
		"mariadb://h/?table=a":               "no database given",
		"mariadb://h/db?table=a&tls=perhaps": "neither true, false nor skip-verify",
		"mariadb://h/db":                     "no collection given",
		"mariadb://u:secret@127.0.0.1:1/db":  "no collection given",
	} {
		_, err := Open(t.Context(), uri, Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %s", uri, err, want)
		}
	}
	var f *FaultError
	if _, err := Open(t.Context(), "mariadb://u:secret@127.0.0.1:1/db?table=t", Options{}); !errors.As(err, &f) ||
		f.Kind != Unreachable {
		t.Errorf("nobody there: %v", err)
	}
	if _, err := Open(t.Context(), "mariadb://"+silentServer(t)+"/db?table=t",
		Options{Deadline: shortTimeout}); !errors.As(err, &f) || f.Kind != TimedOut {
		t.Errorf("a server that hangs: %v", err)
	}
	m := &mariaDB{addr: &address{host: "h:1"}, o: &Options{}}
	for version, want := range map[string]string{
		"8.0.36": "is not a MariaDB", "5.5.5-10.11.6-MariaDB": "too old for vectors", "11.6.2-MariaDB": "too old",
		"11.7.1-MariaDB": "", "12.0.2-MariaDB-log": "",
	} {
		if err := m.supported(version); (want == "") != (err == nil) ||
			err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", version, err, want)
		}
	}
}

func TestMariaFaults(t *testing.T) {
	m := &mariaDB{addr: &address{host: "h:3306"}, o: &Options{Deadline: time.Second}}
	for code, want := range map[uint16]Kind{
		1045: Denied, 1142: Denied, 1049: NotFound, 1146: NotFound, 1969: TimedOut, 1040: Limited, 1053: Unreachable,
		1193: Mismatch, 1064: Failed,
	} {
		var f *FaultError
		if err := m.fault(t.Context(), &mysql.MySQLError{Number: code, Message: "no\nmore"}); !errors.As(err, &f) ||
			f.Kind != want || strings.Contains(f.Reason, "\n") {
			t.Errorf("%d: %+v, want %s", code, err, want)
		}
	}
	for want, err := range map[string]error{
		"requires an unsupported authentication": mysql.ErrUnknownPlugin, "does not offer TLS": mysql.ErrNoTLS,
		"does not respond like MariaDB": errMariaGarbled, "closed the connection": mysql.ErrInvalidConn,
	} {
		if f := m.fault(t.Context(), err); !strings.Contains(f.Error(), want) {
			t.Errorf("%v: %v, want %s", err, f, want)
		}
	}
}

func TestMariaStatements(t *testing.T) {
	m := &mariaDB{
		o:   &Options{Deadline: 2 * time.Second},
		sql: mariaStatement{"SELECT `id`, D(`v`, ?) AS d FROM `db`.`t`", "`id`"},
	}
	const begin, end = "SET STATEMENT max_statement_time=2.000 FOR SELECT `id`, D(`v`, ?) AS d FROM `db`.`t`",
		" ORDER BY d LIMIT 3"
	for _, c := range []struct {
		r      load.Request
		want   string
		values []any
	}{
		{load.Request{}, begin + end, []any{nil}},
		{
			load.Request{Keys: []engine.Key{engine.NumberKey(-5), engine.NumberKey(7)}},
			begin + " WHERE `id` IN (?, ?)" + end,
			[]any{nil, int64(-5), int64(7)},
		},
		{
			load.Request{Keys: []engine.Key{engine.TextKey("a'\\")}, Exclude: true},
			begin + " WHERE `id` NOT IN (?)" + end,
			[]any{nil, "a'\\"},
		},
		{load.Request{Keys: []engine.Key{}}, begin + " WHERE `id` IN (NULL)" + end, []any{nil}},
		{load.Request{Keys: []engine.Key{}, Exclude: true}, begin + end, []any{nil}},
		{
			load.Request{SearchParams: engine.SearchParams{EF: 40}},
			strings.Replace(begin, " FOR", ", mhnsw_ef_search=40 FOR", 1) + end,
			[]any{nil},
		},
	} {
		c.r.K = 3
		if got, values := m.statement(&c.r); got != c.want || !slices.Equal(values, c.values) {
			t.Errorf("%s with %v, want %s with %v", got, values, c.want, c.values)
		}
	}
	for line, want := range map[string]string{
		"  VECTOR KEY `vec` (`vec`) `distance`='cosine' `m`='8'": "vec cosine",
		"  VECTOR KEY `by ``vec` (`a``b`)":                       "a`b",
		"  VECTOR KEY `v` (`v`) `m`=8 `distance`=euclidean,":     "v",
	} {
		found := mariaVectorKey().FindStringSubmatch("x\n" + line + "\n)")
		got := ""
		if found != nil {
			got = strings.ReplaceAll(found[1], "``", "`")
			if mariaCosine().MatchString(found[2]) {
				got += " cosine"
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// FuzzMariaServer checks that arbitrary server data causes at most a one-line error. Reads are limited to the size of
// an answer.
func FuzzMariaServer(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "mariadb", "answers.json"))
	if err == nil {
		var known [][]recordedPacket
		if json.Unmarshal(text, &known) == nil && len(known) > 0 {
			var all []byte
			for _, s := range known[0] {
				if s.Server {
					all = append(all, s.Bytes...)
				}
			}
			f.Add(all)
		}
	}
	f.Add([]byte("\x05\x00\x00\x00\xff\x10\x04no"))
	f.Add([]byte("\x05\x00\x00\x00\x7f\x00\x00\x00\x00\x00\xff\x00\x00\x00\xff\x00\x00\x00\x7f")) // the driver panics
	f.Fuzz(func(t *testing.T, says []byte) {
		m := &mariaDB{
			addr: &address{host: "h:1", user: "u", password: "p"}, database: "d",
			o: &Options{Collection: "t", Deadline: time.Second},
		}
		m.o.Dial = func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, there) }()
			go func() {
				_, _ = there.Write(says)
				_ = there.Close()
			}()
			return here, nil
		}
		if _, _, err := m.describe(t.Context()); err != nil && strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("%q", err)
		}
	})
}

// TestMariaAnswerLimit checks that an answer of excessive size is an error.
func TestMariaAnswerLimit(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	m := &mariaDB{
		addr: &address{host: "h:1"},
		o: &Options{
			Deadline: time.Minute, Dial: func(context.Context, string, string) (net.Conn, error) { return here, nil },
		},
	}
	s, err := m.session()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	go func() {
		packet := append([]byte{0xff, 0xff, 0xff, 0}, make([]byte, 1<<24-1)...)
		for n := byte(0); ; n++ { // endless
			packet[3] = n
			if _, err := there.Write(packet); err != nil {
				return
			}
		}
	}()
	s.left.Allow(1 << 20)
	if err := s.fault(t.Context(), s.db.PingContext(t.Context())); err == nil ||
		!strings.Contains(err.Error(), "does not respond like MariaDB") {
		t.Errorf("an endless answer: %v", err)
	}
}
