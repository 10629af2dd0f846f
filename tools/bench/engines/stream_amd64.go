package main

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:noescape
func streamAVX512(data unsafe.Pointer, n uintptr)

// readAll reads data as fast as this CPU can. It returns false if there is no code for this CPU.
func readAll(data []byte) bool {
	if !cpu.X86.HasAVX512F || len(data) < 256 {
		return false
	}
	streamAVX512(unsafe.Pointer(unsafe.SliceData(data)), uintptr(len(data))&^255)
	return true
}
