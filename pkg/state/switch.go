package state

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"stopgate/pkg/host"
)

// Disabled tells whether $STOPGATE_DISABLE switches stopgate off: by anything but
// nothing, 0, false, no and off.
func Disabled(env func(string) string) bool { return Disables(env(EnvDisable)) }

// Disables tells whether a value of that variable switches stopgate off.
func Disables(value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}

// Off tells whether stopgate is switched off for a session: by the environment,
// by the file "off", or by the session's own switch. A switch can carry the time
// at which it ends.
func Off(env func(string) string, dir Dir, sessionID string, now time.Time) bool {
	if Disabled(env) {
		return true
	}
	if dir.path == "" {
		return false
	}
	return dir.switchedOff(offFile, now) || sessionID != "" && dir.switchedOff(offPrefix+Safe(sessionID), now)
}

func (d Dir) switchedOff(name string, now time.Time) bool {
	_, off := d.readSwitch(name, now)
	return off
}

// readSwitch tells whether a switch is set, and until when; a zero time is for ever.
// Whatever lies there under that name, somebody wanted it off.
func (d Dir) readSwitch(name string, now time.Time) (until time.Time, off bool) {
	data, err := host.Files{}.ReadSmall(filepath.Join(d.path, name), maxSwitch)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return time.Time{}, false
	}
	until, err = time.Parse(time.RFC3339, strings.TrimSpace(string(data)))
	if err != nil {
		return time.Time{}, true
	}
	return until, now.Before(until)
}

// OffUntil tells whether the switch of a session ("" for the general one) is
// set, and until when; a zero time is for ever.
func (d Dir) OffUntil(sessionID string, now time.Time) (until time.Time, off bool) {
	if until, off = d.readSwitch(offName(sessionID), now); !off {
		return time.Time{}, false
	}
	return until, true
}

// SwitchOff sets the switch for a session, or the general one for "". A zero
// until is for ever. What lies in its place and is not of our making stays, which is
// [ErrNotOurs]: it switches off as it is.
func (d Dir) SwitchOff(sessionID string, until time.Time) error {
	if err := d.Make(); err != nil {
		return err
	}
	path := filepath.Join(d.path, offName(sessionID))
	if !nothingAt(path) && !d.ours(path) {
		return fmt.Errorf("%s: %w, and switches off as it is", path, ErrNotOurs)
	}
	text := ""
	if !until.IsZero() {
		text = until.UTC().Format(time.RFC3339) + "\n"
	}
	return host.Replace(path, []byte(text), 0o600)
}

// SwitchOn takes the switch away; it tells whether there was one. What lies in its
// place and is not of our making stays, which is [ErrNotOurs].
func (d Dir) SwitchOn(sessionID string) (bool, error) {
	err := d.Remove(filepath.Join(d.path, offName(sessionID)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// sweepSwitches removes off switches whose time is over.
func (d Dir) sweepSwitches(now time.Time) {
	for _, path := range pathsIn(d.path, offFile) {
		name := filepath.Base(path)
		if until, off := d.readSwitch(name, now); switchFile(name) && !off && !until.IsZero() {
			_ = d.Remove(path) // the next sweep tries again
		}
	}
}

func offName(sessionID string) string {
	if sessionID == "" {
		return offFile
	}
	return offPrefix + Safe(sessionID)
}
