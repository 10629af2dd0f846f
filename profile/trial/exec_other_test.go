//go:build !unix

package trial

// stubborn has nothing to do where no process is asked to end.
func stubborn() {}
