package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/config"
	"stopgate/pkg/host"
	"stopgate/pkg/ledger"
	"stopgate/pkg/setup"
	"stopgate/pkg/state"
)

// facts are what the checks judge.
type facts struct {
	now   time.Time
	short func(path string) string
	// env is the environment of this process.
	env func(name string) string
	// sources are the settings files that exist, the weakest first.
	sources []setup.SettingsFile
	// plugins are the registrations of our plugin where it is installed.
	plugins []setup.SettingsFile
	// config is what the person's and the project's files say, problems what is wrong
	// with them.
	config   config.Config
	problems []config.Problem
	// limits are the client's own clocks for a session here.
	limits setup.Limits
	// strangers are files of another user than the person whose home this is.
	strangers []setup.Stranger
	person    string
	// reinstall is how programs that are gone come back.
	reinstall string
	proofs    []setup.Proof
	// proofErr is why nothing could be tried.
	proofErr error
	state    stateFacts
	sessions sessionFacts
	// version is the client of the last session that names one; "" for unknown.
	version string
}

type stateFacts struct {
	path string
	// off says what switched stopgate off: "" for nothing.
	off   string
	until time.Time
	// missing: the folder does not exist yet, and could be made.
	missing bool
	err     error
}

type sessionFacts struct {
	// count is how many sessions are recorded, unreadable how many of them
	// cannot be read.
	count, unreadable int
	id, event         string
	at                time.Time
	ephemeral         int64
}

func (d Doctor) gather(ctx context.Context) facts {
	f := facts{now: d.Now, short: d.World.Short, env: d.World.Env}
	f.sources, f.plugins = d.World.Sources(), d.World.Plugins()
	f.config, f.problems = config.Load(d.World.Host, d.World.Cwd)
	f.problems = append(f.problems, f.config.WrongOthers()...)
	f.limits = d.World.Limits(d.World.Host, f.sources)
	var hooks []setup.Hook
	for _, s := range f.sources {
		for _, h := range s.Hooks {
			if !slices.ContainsFunc(hooks, func(o setup.Hook) bool { return sameCommand(o, h) }) {
				hooks = append(hooks, h)
			}
		}
	}
	f.proofs, f.proofErr = d.World.Prove(ctx, hooks, f.sources)
	f.reinstall = d.World.Reinstall()
	f.strangers, f.person = d.World.Strangers()
	f.state = d.state(ctx)
	f.sessions, f.version = d.sessions(ctx)
	return f
}

func sameCommand(a, b setup.Hook) bool {
	return a.Event == b.Event && a.Command == b.Command && slices.Equal(a.Args, b.Args)
}

func (d Doctor) state(ctx context.Context) stateFacts {
	var f stateFacts
	f.path = state.Locate(d.World.Env)
	if f.path == "" {
		f.err = errors.New("the environment names no home folder")
		return f
	}
	if until, off := state.At(f.path).OffUntil("", d.Now); off {
		f.off, f.until = "the off switch", until
	}
	if f.err = state.At(f.path).Obstacle(); f.err != nil {
		return f
	}
	at := f.path
	info, err := os.Stat(at)
	for ; errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at); info, err = os.Stat(at) {
		f.missing = true
		at = filepath.Dir(at)
	}
	switch {
	case err != nil:
		f.err = err
		return f
	case !info.IsDir(): // one above it
		f.err = fmt.Errorf("%s is not a folder", at)
		return f
	}
	// The same calls as the hook's, in a folder of their own.
	temp, err := os.MkdirTemp(at, ".stopgate-doctor-")
	if err != nil {
		f.err = err
		return f
	}
	defer os.RemoveAll(temp) //nolint:errcheck // ours alone
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	f.err = ledger.Update(ctx, state.At(temp), "doctor-session", d.Now, func(*ledger.Tx) error { return nil })
	if f.err == nil {
		f.err = excludes(ctx, filepath.Join(temp, "lock"))
	}
	return f
}

// excludes tells whether a lock keeps a second one out; on some network file
// systems it does not.
func excludes(ctx context.Context, path string) error {
	first, err := state.Acquire(ctx, path, false)
	if err != nil {
		return err
	}
	defer first.Release()
	if second, ok := state.TryAcquire(path); ok {
		second.Release()
		return errors.New("locks do not exclude each other there")
	}
	return nil
}

// sessions looks at what was recorded, and at the client of the latest session
// whose transcript tells.
func (d Doctor) sessions(ctx context.Context) (f sessionFacts, version string) {
	dir := state.Existing(d.World.Env)
	f.ephemeral, _ = dir.EphemeralTotal()
	var all []ledger.Session
	for _, path := range dir.Stores() {
		one, cancel := context.WithTimeout(ctx, time.Second)
		snap, err := ledger.ReadFile(one, path)
		cancel()
		f.count++
		if err != nil {
			f.unreadable++
			continue
		}
		all = append(all, snap.Session)
	}
	slices.SortFunc(all, func(a, b ledger.Session) int { return b.LastEventAt.Compare(a.LastEventAt) })
	if len(all) > 0 {
		f.id, f.event, f.at = all[0].ID, all[0].LastEvent, all[0].LastEventAt
	}
	for _, s := range all {
		if version = lastVersion(d.World.Files, s.Transcript); version != "" {
			break
		}
	}
	return f, version
}

// tail is how much of a transcript's end is looked at for a version.
const tail = 256 << 10

// lastVersion is the client's version as the last line of a transcript that
// names one tells it; "" where none does.
func lastVersion(files host.Files, path string) string {
	if path == "" {
		return ""
	}
	file, info, err := files.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close() //nolint:errcheck // only read
	buf := make([]byte, min(info.Size(), tail))
	n, _ := file.ReadAt(buf, info.Size()-int64(len(buf)))
	lines := bytes.Split(buf[:n], []byte("\n"))
	for _, line := range slices.Backward(lines) {
		if v := gjson.GetBytes(line, "version"); v.Type == gjson.String && gjson.ValidBytes(line) {
			if _, ok := number(v.Str); ok {
				return v.Str
			}
		}
	}
	return ""
}
