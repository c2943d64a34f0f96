// Package hostile holds tests that hurt the built programs: hundreds of hostile
// set-ups of the process, its files and its store, kills at every system call,
// crowds, long runs, traced system calls, text that wants to be more than text, and
// real programs in the background. docs/reliability.md says what each of them found.
// They need Linux, and are behind a build tag:
//
//	go test -tags hostile ./hostile
//
// Some need root (for a disk that is full or read-only, and for being somebody
// without rights) or strace, and are skipped without. Some of the programs in the
// background come from npm and are installed into the user's cache folder, once.
//
// hostile/mutants breaks the rules of the code one by one and runs the tests
// that must notice.
package hostile
