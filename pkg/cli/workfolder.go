package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// workFolder makes a temporary folder that goes when remove is called, and also
// when the program is interrupted or nobody reads what it prints any more.
func workFolder() (path string, remove func(), err error) {
	path, err = os.MkdirTemp("", "stopgate-")
	if err != nil {
		return "", nil, err
	}
	// A closed pipe becomes an error of writing, so that the work comes to its end.
	signal.Ignore(syscall.SIGPIPE)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, interrupted := <-signals; interrupted {
			_ = os.RemoveAll(path)
			os.Exit(exitInterrupted) //nolint:forbidigo // a signal ends the process, as it does without this
		}
	}()
	return path, func() {
		signal.Stop(signals)
		close(signals)
		signal.Reset(syscall.SIGPIPE)
		_ = os.RemoveAll(path) // the temp folder is emptied by others too
	}, nil
}
