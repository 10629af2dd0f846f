package main

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:noescape
func streamAVX512(data unsafe.Pointer, n uintptr)

// readAll reads data as fast as this CPU can; false if there is no code for it.
func readAll(data []byte) bool {
	if !cpu.X86.HasAVX512F || len(data) < 256 {
		return false
	}
	streamAVX512(unsafe.Pointer(unsafe.SliceData(data)), uintptr(len(data))&^255)
	return true
}
