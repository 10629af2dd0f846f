// Package gobuild asks the go command and Go binaries: which main packages a module has, what the
// compiler would do with a profile, with which profile a binary was built, which calls are inlined in it.
//
// What enters is folders, paths of binaries and a profile; what leaves is facts for package pgo. Nothing
// is written but into a temporary folder and the go command's own cache.
//
//  1. FindModule names the main packages of a module, without building anything.
//  2. ReadBinary reads what a binary records about its build, in ELF, Mach-O and PE files.
//  3. Binary.Inlined reads its inline trees (pclntab.go, inlined.go), or DWARF where there are none (dwarf.go).
//  4. DryRun builds twice, listens to the compiler (words.go), compares both binaries (dryrun.go), and
//     says why a hot call is not inlined (why.go).
package gobuild
