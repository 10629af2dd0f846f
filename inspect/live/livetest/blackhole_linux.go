package livetest

import (
	"context"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"
)

// Blackhole returns an address that neither accepts nor refuses connections. Its accept queue is full, so
// further attempts get no reply, as behind a firewall that drops packets.
func Blackhole(tb testing.TB) string {
	tb.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		tb.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		tb.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		tb.Fatal(err)
	}
	at, ok := name.(*syscall.SockaddrInet4)
	if !ok {
		tb.Fatalf("address of kind %T", name)
	}
	address := netip.AddrPortFrom(netip.AddrFrom4(at.Addr), uint16(at.Port)).String()
	for range 16 {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		cancel()
		if err != nil {
			return address
		}
		tb.Cleanup(func() { _ = conn.Close() })
	}
	tb.Skip("this system takes connections beyond the queue of a listener")
	return ""
}
