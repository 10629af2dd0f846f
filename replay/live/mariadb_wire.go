package live

import (
	"context"
	"crypto/sha1" //nolint:gosec // what mysql_native_password is made of
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

// The few packets of MySQL's protocol that a reader needs (MariaDB knowledge base, Client/Server Protocol): the handshake with
// mysql_native_password, in TLS if wanted, and statements as text with rows as text. The well-kept driver, go-sql-driver/mysql, makes
// the binary 0.5 MB larger, for prepared statements, transactions and database/sql that nothing here would use.

// mariaConn is one connection. An error that is no *mariaError leaves it broken.
type mariaConn struct {
	conn    net.Conn
	seq     byte
	most    int // bytes of one answer
	version string
	broken  bool
	packet  []byte
}

// mariaError is an ERR packet.
type mariaError struct {
	Code    uint16
	State   string
	Message string
}

func (e *mariaError) Error() string { return e.Message }

var (
	errMariaGarbled = errors.New("not MariaDB's protocol")
	errMariaLarge   = errors.New("larger than an answer can be")
	errMariaNoTLS   = errors.New("no TLS offered")
)

// mariaAuthError is a way of authentication that is not known here.
type mariaAuthError struct{ Plugin string }

func (e *mariaAuthError) Error() string { return "unknown authentication " + e.Plugin }

// Capabilities that are used (MariaDB's numbers are MySQL's).
const (
	mariaConnectWithDB = 1 << 3
	mariaProtocol41    = 1 << 9
	mariaTLS           = 1 << 11
	mariaTransactions  = 1 << 13
	mariaSecure        = 1 << 15
	mariaPluginAuth    = 1 << 19

	mariaUTF8MB4   = 45
	mariaNative    = "mysql_native_password"
	mariaLargest   = 1<<24 - 1
	mariaHandshake = 10
)

// mariaConnect shakes hands over conn, which it owns from then on.
func mariaConnect(conn net.Conn, user, password, database string, secure *tls.Config) (*mariaConn, error) {
	c := &mariaConn{conn: conn, most: 1 << 20}
	err := c.greet(user, password, database, secure)
	if err != nil {
		_ = c.conn.Close()
		return nil, err
	}
	return c, nil
}

// mariaGreeting is the server's first packet.
type mariaGreeting struct {
	version      string
	capabilities uint32
	scramble     []byte
	plugin       string
}

func readGreeting(p []byte) (*mariaGreeting, error) {
	if len(p) == 0 || p[0] != mariaHandshake {
		return nil, errMariaGarbled
	}
	version, rest, ok := strings.Cut(string(p[1:]), "\x00")
	// connection 4, scramble 8, filler 1, capabilities 2, charset 1, status 2, capabilities 2, length of the scramble 1, filler 10
	if !ok || len(rest) < 31 {
		return nil, errMariaGarbled
	}
	g := &mariaGreeting{version: version, capabilities: uint32(rest[13]) | uint32(rest[14])<<8 | uint32(rest[18])<<16 | uint32(rest[19])<<24}
	scramble, end := rest[4:12], rest[31:]
	more := max(13, int(rest[20])-8)
	if len(end) < more {
		return nil, errMariaGarbled
	}
	g.scramble = []byte(strings.TrimRight(scramble+end[:more], "\x00"))
	g.plugin, _, _ = strings.Cut(end[more:], "\x00")
	return g, nil
}

func (c *mariaConn) greet(user, password, database string, secure *tls.Config) error {
	p, err := c.read()
	if err != nil {
		return err
	}
	if len(p) > 0 && p[0] == 0xff { // too many connections, host not allowed
		return readMariaError(p)
	}
	g, err := readGreeting(p)
	if err != nil {
		return err
	}
	c.version = g.version
	capabilities := uint32(mariaProtocol41 | mariaTransactions | mariaSecure | mariaPluginAuth)
	if database != "" {
		capabilities |= mariaConnectWithDB
	}
	if secure != nil {
		capabilities |= mariaTLS
	}
	head := binary.LittleEndian.AppendUint32(nil, capabilities)
	head = binary.LittleEndian.AppendUint32(head, mariaLargest)
	head = append(append(head, mariaUTF8MB4), make([]byte, 23)...)
	if secure != nil {
		if g.capabilities&mariaTLS == 0 {
			return errMariaNoTLS
		}
		if err := c.write(head); err != nil {
			return err
		}
		c.conn = tls.Client(c.conn, secure)
	}
	b := append(append(head, user...), 0)
	proof := nativePassword(password, g.scramble)
	b = append(append(b, byte(len(proof))), proof...)
	if database != "" {
		b = append(append(b, database...), 0)
	}
	if err := c.write(append(append(b, mariaNative...), 0)); err != nil {
		return err
	}
	return c.authenticate(password)
}

// authenticate goes on until the server says yes or no. It may ask once for another way than the one that was offered.
func (c *mariaConn) authenticate(password string) error {
	for range 2 {
		p, err := c.read()
		if err != nil {
			return err
		}
		switch {
		case len(p) == 0:
			return errMariaGarbled
		case p[0] == 0x00:
			return nil
		case p[0] == 0xff:
			return readMariaError(p)
		case p[0] != 0xfe:
			return errMariaGarbled
		}
		plugin, scramble, _ := strings.Cut(string(p[1:]), "\x00")
		if plugin != mariaNative {
			return &mariaAuthError{clip(plugin)}
		}
		if err := c.write(nativePassword(password, []byte(strings.TrimRight(scramble, "\x00")))); err != nil {
			return err
		}
	}
	return errMariaGarbled
}

// nativePassword is SHA1(password) xor SHA1(scramble + SHA1(SHA1(password))), nothing for no password.
func nativePassword(password string, scramble []byte) []byte {
	if password == "" {
		return nil
	}
	once := sha1.Sum([]byte(password)) //nolint:gosec // as the server does
	twice := sha1.Sum(once[:])         //nolint:gosec // as the server does
	mixed := sha1.Sum(append(append([]byte{}, scramble...), twice[:]...))
	for i := range mixed {
		mixed[i] ^= once[i]
	}
	return mixed[:]
}

// read returns the payload of a packet, valid until the next one. What a packet of the most bytes goes on with is not taken: nothing
// that is read here is that long.
func (c *mariaConn) read() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(c.conn, head[:]); err != nil {
		c.broken = true
		return nil, err //nolint:wrapcheck // the caller says what it means
	}
	n := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	switch {
	case head[3] != c.seq:
		c.broken = true
		return nil, errMariaGarbled
	case n > c.most || n == mariaLargest:
		c.broken = true
		return nil, errMariaLarge
	}
	c.seq++
	if cap(c.packet) < n {
		c.packet = make([]byte, n)
	}
	c.packet = c.packet[:n]
	if _, err := io.ReadFull(c.conn, c.packet); err != nil {
		c.broken = true
		return nil, err //nolint:wrapcheck // the caller says what it means
	}
	return c.packet, nil
}

func (c *mariaConn) write(payload []byte) error {
	if len(payload) >= mariaLargest {
		return errMariaLarge
	}
	b := append([]byte{byte(len(payload)), byte(len(payload) >> 8), byte(len(payload) >> 16), c.seq}, payload...)
	c.seq++
	if _, err := c.conn.Write(b); err != nil {
		c.broken = true
		return err //nolint:wrapcheck // the caller says what it means
	}
	return nil
}

// query asks a statement and hands each row to take: values as text, nil for NULL, valid until take returns. An error of take ends
// the connection, as do more bytes than most.
func (c *mariaConn) query(ctx context.Context, deadline time.Time, sql []byte, most int, take func(row [][]byte) error) error {
	_ = c.conn.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	const comQuery = 3
	c.seq, c.most = 0, most
	err := c.write(append([]byte{comQuery}, sql...))
	if err == nil {
		err = c.rows(take)
	}
	if _, said := errors.AsType[*mariaError](err); err != nil && !said {
		c.broken = true
	}
	return err
}

func (c *mariaConn) rows(take func(row [][]byte) error) error {
	p, err := c.read()
	if err != nil {
		return err
	}
	switch {
	case len(p) == 0, p[0] == 0xfb: // a file of ours, which it never gets
		return errMariaGarbled
	case p[0] == 0x00:
		return nil
	case p[0] == 0xff:
		return readMariaError(p)
	}
	columns, rest, ok := lengthOf(p)
	if !ok || len(rest) > 0 || columns > 4096 {
		return errMariaGarbled
	}
	left := c.most
	next := func() ([]byte, error) {
		p, err := c.read()
		if left -= len(p) + 4; err == nil && left < 0 {
			err = errMariaLarge
		}
		return p, err
	}
	for range columns + 1 { // definitions, which nobody needs, and their end
		if p, err = next(); err != nil {
			return err
		}
		if len(p) > 0 && p[0] == 0xff {
			return readMariaError(p)
		}
	}
	row := make([][]byte, columns)
	for {
		if p, err = next(); err != nil {
			return err
		}
		switch {
		case len(p) > 0 && p[0] == 0xfe && len(p) < 9:
			return nil
		case len(p) > 0 && p[0] == 0xff:
			return readMariaError(p)
		}
		for i := range row {
			if row[i], p, ok = textOf(p); !ok {
				return errMariaGarbled
			}
		}
		if len(p) > 0 {
			return errMariaGarbled
		}
		if err := take(row); err != nil {
			return err
		}
	}
}

// close ends the connection politely, but does not wait for it.
func (c *mariaConn) close() {
	const comQuit = 1
	if !c.broken {
		c.seq = 0
		_ = c.conn.SetDeadline(time.Now().Add(time.Second))
		_ = c.write([]byte{comQuit})
	}
	_ = c.conn.Close()
}

// lengthOf reads a length-encoded integer.
func lengthOf(p []byte) (n uint64, rest []byte, ok bool) {
	if len(p) == 0 {
		return 0, nil, false
	}
	size := map[byte]int{0xfc: 2, 0xfd: 3, 0xfe: 8}[p[0]]
	switch {
	case p[0] < 0xfb:
		return uint64(p[0]), p[1:], true
	case size == 0 || len(p) < 1+size:
		return 0, nil, false
	}
	for i := range size {
		n |= uint64(p[1+i]) << (8 * i)
	}
	return n, p[1+size:], true
}

// textOf reads a length-encoded text, nil for NULL.
func textOf(p []byte) (text, rest []byte, ok bool) {
	if len(p) > 0 && p[0] == 0xfb {
		return nil, p[1:], true
	}
	n, rest, ok := lengthOf(p)
	if !ok || n > uint64(len(rest)) {
		return nil, nil, false
	}
	return rest[:n:n], rest[n:], true
}

// readMariaError reads an ERR packet, with the SQL state or, of one before the handshake, without.
func readMariaError(p []byte) error {
	if len(p) < 3 {
		return errMariaGarbled
	}
	e := &mariaError{Code: binary.LittleEndian.Uint16(p[1:])}
	text := string(p[3:])
	if len(text) >= 6 && text[0] == '#' {
		e.State, text = text[1:6], text[6:]
	}
	e.Message = text
	return e
}
