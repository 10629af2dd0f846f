package main

import (
	"maps"
	"slices"
)

// writers are the subjects, one a file of assembly.
func writers() map[string]func(*program) {
	return map[string]func(*program){
		"float32":   writeFloat32,
		"half":      writeHalf,
		"int8":      writeInt8,
		"bits":      writeBits,
		"visit":     writeVisit,
		"codes":     writeCodes,
		"ranked":    writeRanked,
		"translate": writeTranslate,
		"pq":        writePQ,
		"sq8":       writeSQ8,
		"sieve":     writeSieve,
		"rabitq":    writeRaBitQ,
		"linear":    writeLinear,
	}
}

func subjects() []string {
	return slices.Concat(slices.Sorted(maps.Keys(writers())), slices.Sorted(maps.Keys(neonSubjects())))
}
