//go:build !linux && !darwin && !windows

package host

func processCommand(int) ([]string, bool) { return nil, false }

func processParent(int) (int, bool) { return 0, false }

func processStarted(int) (string, bool) { return "", false }
