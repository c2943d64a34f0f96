package state

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"stopgate/pkg/host"
)

const (
	logFile  = "hook.log"
	olderLog = ".1"
	// maxLog bounds the log in bytes; one older log of that size is kept.
	maxLog = 1 << 20
)

// LogPath is where the hook's log is.
func (d Dir) LogPath() string { return filepath.Join(d.path, logFile) }

// OpenLog opens the log at the level that $STOPGATE_LOG names: trace, debug, info (the
// default), warn, error, or disabled for none. It never fails: where nothing can be
// written, the logger writes nowhere. The second result closes it.
func OpenLog(env func(string) string, dir Dir) (*slog.Logger, func()) {
	nowhere := slog.New(slog.DiscardHandler)
	level := slog.LevelInfo
	switch name := strings.ToLower(env(EnvLog)); name {
	case "disabled":
		return nowhere, func() {}
	case "trace":
		level = slog.LevelDebug
	case "", "fatal", "panic":
	default:
		_ = level.UnmarshalText([]byte(name)) // a name that is none leaves it as it was
	}
	if dir.path == "" {
		return nowhere, func() {}
	}
	file, err := openLog(dir)
	if err != nil {
		return nowhere, func() {}
	}
	lines := slog.NewJSONHandler(oneWrite{file}, &slog.HandlerOptions{Level: level, ReplaceAttr: logKeys})
	return slog.New(lines), func() { _ = file.Close() }
}

// logKeys names the level and the message as people look for them.
func logKeys(groups []string, a slog.Attr) slog.Attr {
	switch {
	case len(groups) > 0:
	case a.Key == slog.LevelKey:
		a.Value = slog.StringValue(strings.ToLower(a.Value.String()))
	case a.Key == slog.MessageKey:
		a.Key = "message"
	}
	return a
}

// openLog opens the log, and begins a new one where it is full.
func openLog(dir Dir) (*os.File, error) {
	path := dir.LogPath()
	file, size, err := openLogAt(path)
	if err != nil || size <= maxLog {
		return file, err
	}
	_ = file.Close()
	if older := path + olderLog; !nothingAt(older) && !dir.ours(older) {
		return nil, fmt.Errorf("%s: %w, and the log is full", older, ErrNotOurs)
	}
	_ = host.Move(path, path+olderLog) // another hook may have done it
	file, _, err = openLogAt(path)
	return file, err
}

// openLogAt opens a log without ever waiting for it: what lies there under its name
// can be a pipe that nobody reads. What somebody else wrote there is left alone.
func openLogAt(path string) (*os.File, int64, error) {
	file, info, err := host.OpenAppend(path)
	if err != nil {
		return nil, 0, err
	}
	if info.Size() > 0 && !isLog(head(file, maxBegin)) {
		_ = file.Close()
		return nil, 0, fmt.Errorf("%s: %w", path, ErrNotOurs)
	}
	return file, info.Size(), nil
}

// oneWrite hides that a log cannot be written. What is not plain ASCII is written as
// JSON's escapes, since a log is looked at in terminals, and an id can hold whatever
// its author liked.
type oneWrite struct{ w io.Writer }

func (o oneWrite) Write(p []byte) (int, error) {
	_, _ = o.w.Write(escape(p))
	return len(p), nil
}

func escape(line []byte) []byte {
	plain := func(r rune) bool { return r == '\n' || r >= ' ' && r <= '~' }
	if bytes.IndexFunc(line, func(r rune) bool { return !plain(r) }) < 0 {
		return line
	}
	out := make([]byte, 0, 2*len(line))
	for _, r := range string(line) {
		switch {
		case plain(r):
			out = append(out, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}
