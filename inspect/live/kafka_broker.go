package live

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"kitescope/inspect/model"
)

// broker is a connection to a broker.
type broker struct {
	*kafka
	address string
	conn    net.Conn
	in      *bufio.Reader
	serial  int32
	most    int64 // bytes of one answer
	// versions are the newest and oldest versions of requests that it knows, by key.
	versions map[int16]kmsg.ApiVersionsResponseApiKey
}

// connect dials a broker and learns its versions.
func (k *kafka) connect(ctx context.Context, address string) (*broker, error) {
	if host, port, err := splitAddress(address); err == nil && port == "" {
		address = net.JoinHostPort(host, "9092")
	}
	conn, err := k.dialer.dial(ctx, address, true)
	if err != nil {
		return nil, err
	}
	c := &broker{kafka: k, address: address, conn: conn, in: bufio.NewReader(conn), most: kafkaVersions, versions: map[int16]kmsg.ApiVersionsResponseApiKey{}}
	request := kmsg.NewPtrApiVersionsRequest() // version 0, which all know
	response := kmsg.NewPtrApiVersionsResponse()
	if err := c.ask(ctx, request, response); err != nil {
		c.close()
		return nil, err
	}
	for _, key := range response.ApiKeys {
		c.versions[key.ApiKey] = key
	}
	return c, nil
}

func (c *broker) close() { _ = c.conn.Close() }

// version sets the newest version of a request that both sides know.
func (c *broker) version(request kmsg.Request, least int16) error {
	known, ok := c.versions[request.Key()]
	version := min(known.MaxVersion, request.MaxVersion())
	if !ok || version < known.MinVersion || version < least {
		return failed(model.Unimplemented, "the broker %s knows no version of request %d that kitescope knows", c.address, request.Key())
	}
	request.SetVersion(version)
	return nil
}

// ask sends a request and reads its answer.
func (c *broker) ask(ctx context.Context, request kmsg.Request, response kmsg.Response) error {
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c.serial++
	out := kmsg.NewRequestFormatter(kmsg.FormatterClientID("kitescope")).AppendRequest(nil, request, c.serial)
	if _, err := c.conn.Write(out); err != nil {
		return c.failure(ctx, err)
	}
	body, err := c.read(request)
	if err != nil {
		return c.failure(ctx, err)
	}
	response.SetVersion(request.GetVersion())
	if err := response.ReadFrom(body); err != nil {
		return failed(model.Garbled, "the broker %s: no answer of Kafka", c.address)
	}
	return nil
}

// read reads the body of the next answer: 4 bytes of size, 4 of the request's serial
// number, and in flexible versions an empty list of tags.
func (c *broker) read(request kmsg.Request) ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(c.in, head[:4]); err != nil {
		return nil, err
	}
	size := int64(binary.BigEndian.Uint32(head[:4]))
	switch {
	case head[0] == tlsAlert || head[0] == tlsHandshake:
		return nil, c.speaksTLS()
	case size > c.most:
		return nil, tooLarge(size, c.most)
	case size < 4:
		return nil, failed(model.Garbled, "the broker %s: no answer of Kafka", c.address)
	}
	if _, err := io.ReadFull(c.in, head[4:]); err != nil {
		return nil, err
	}
	if serial := int32(binary.BigEndian.Uint32(head[4:])); serial != c.serial {
		return nil, failed(model.Garbled, "the broker %s answers to request %d, not %d", c.address, serial, c.serial)
	}
	body, err := io.ReadAll(io.LimitReader(c.in, size-4))
	switch {
	case err != nil:
		return nil, err
	case int64(len(body)) < size-4:
		return nil, io.ErrUnexpectedEOF
	}
	const apiVersions = 18 // its answer never has tags, so that old clients can read it
	if request.IsFlexible() && request.Key() != apiVersions {
		if len(body) == 0 || body[0] != 0 {
			return nil, failed(model.Garbled, "the broker %s: tags where none are expected", c.address)
		}
		body = body[1:]
	}
	return body, nil
}

func (c *broker) speaksTLS() *failure {
	return failed(model.Denied, "the broker %s speaks TLS, and kitescope has no certificates of its own", c.address)
}

// failure says why a request has no answer.
func (c *broker) failure(ctx context.Context, err error) error {
	var known *failure
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil && !isTimeout(context.Cause(ctx)):
		return context.Cause(ctx)
	case isTimeout(err):
		return failed(model.TimedOut, "the broker %s does not answer within %s", c.address, c.patience)
	case isCut(err) && len(c.versions) == 0 && c.dialer.wantsTLS(ctx, c.address):
		return c.speaksTLS()
	case isCut(err):
		return failed(model.CutOff, "the broker %s closed the connection", c.address)
	}
	return fmt.Errorf("the broker %s: %w", c.address, err)
}
