package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"stopgate/pkg/host/hosttest"
)

const userFile = "{\n\t\"model\": \"opus\",\n\t\"hooks\": {}\n}"

var day = time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)

func options(t *testing.T) Options {
	return Options{Dir: filepath.Join(t.TempDir(), "state", "locks"), Now: func() time.Time { return day }}
}

func put(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	hosttest.Write(t, day, path, text)
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// change is an edit of any kind.
func change(path string, do func(old []byte) ([]byte, error), opts Options) (Result, error) {
	return edit(path, func(_ string, old []byte) ([]byte, error) { return do(old) }, nil, opts)
}

func backupsOf(path string, opts Options) ([]string, error) {
	target, err := resolve(path)
	if err != nil {
		return nil, err
	}
	return backups(target, opts)
}

func get(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// tree lists everything under dir with its mode and text.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%v %s", info.Mode(), rel)
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %q", data)
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestInstallAndUninstall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	put(t, path, userFile, 0o640)
	opts := options(t)

	res, err := Install(path, wanted(0), isOurs, opts)
	if err != nil || !res.Changed || string(res.Old) != userFile || string(res.New) != get(t, path) {
		t.Fatalf("%+v %v", res, err)
	}
	if want := filepath.Join(filepath.Dir(res.Target), "settings.json.stopgate-backup-20260102T030405.006Z"); res.Backup != want || get(t, res.Backup) != userFile {
		t.Errorf("backup %q", res.Backup)
	}
	if info, err := os.Stat(path); err != nil || (runtime.GOOS != "windows" && info.Mode() != 0o640) {
		t.Errorf("%v %v", info.Mode(), err)
	}

	before := tree(t, filepath.Dir(path))
	res, err = Install(path, wanted(0), isOurs, opts)
	if err != nil || res.Changed || res.Backup != "" || tree(t, filepath.Dir(path)) != before {
		t.Errorf("a second install: %+v %v", res, err)
	}
	if _, err = Install(path, wanted(2), isOurs, opts); err != nil {
		t.Fatal(err)
	}
	res, err = Uninstall(path, isOurs, opts)
	if err != nil || !res.Changed || !res.Restored || get(t, path) != userFile {
		t.Errorf("%+v %v\n%s", res, err, get(t, path))
	}
	res, err = Uninstall(path, isOurs, opts)
	if err != nil || res.Changed || res.Restored || get(t, path) != userFile {
		t.Errorf("a second uninstall: %+v %v", res, err)
	}
	if all, _ := filepath.Glob(filepath.Join(opts.Dir, "*.record.json")); len(all) > 0 {
		t.Errorf("records left over: %q", all)
	}
	if got := tree(t, filepath.Dir(path)); strings.Count(got, "\n") != 5 {
		t.Errorf("left over:\n%s", got)
	}
}

func TestUninstallOfAFileThatWasEditedSince(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	put(t, path, userFile, 0o600)
	opts := options(t)
	if _, err := Install(path, wanted(0), isOurs, opts); err != nil {
		t.Fatal(err)
	}
	put(t, path, strings.Replace(get(t, path), "opus", "haiku", 1), 0o600)
	res, err := Uninstall(path, isOurs, opts)
	if want := strings.Replace(userFile, "opus", "haiku", 1); err != nil || res.Restored || get(t, path) != want {
		t.Errorf("%+v %v\n%s", res, err, get(t, path))
	}
}

func TestFileThatDidNotExist(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "a", ".claude", "settings.json")
	opts := options(t)
	res, err := Install(path, wanted(0), isOurs, opts)
	if err != nil || !res.Changed || res.Old != nil || res.Backup != "" || len(res.Made) != 2 {
		t.Fatalf("%+v %v", res, err)
	}
	if runtime.GOOS != "windows" {
		for p, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): fs.ModeDir | 0o700} {
			if info, err := os.Stat(p); err != nil || info.Mode() != want {
				t.Errorf("%s: %v %v", p, info.Mode(), err)
			}
		}
	}
	res, err = Uninstall(path, isOurs, opts)
	if err != nil || !res.Changed || !res.Restored || res.New != nil {
		t.Errorf("%+v %v", res, err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if _, err := Uninstall(path, isOurs, opts); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "x", "settings.json")
	opts := Options{Dir: filepath.Join(home, "state"), DryRun: true}
	res, err := Install(path, wanted(0), isOurs, opts)
	if err != nil || !res.Changed || res.New == nil {
		t.Fatalf("%+v %v", res, err)
	}
	put(t, path, userFile, 0o600)
	before := tree(t, home)
	if res, err = Install(path, wanted(0), isOurs, opts); err != nil || !res.Changed || res.Backup != "" {
		t.Fatalf("%+v %v", res, err)
	}
	if _, err = Uninstall(path, isOurs, opts); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, home); got != before {
		t.Errorf("before\n%s\nafter\n%s", before, got)
	}
}

func TestLinksAreWrittenThrough(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(t *testing.T, home string) (path, target string)
		text string
	}{
		{"relative link", func(t *testing.T, home string) (string, string) {
			put(t, filepath.Join(home, "dot", "s.json"), userFile, 0o644)
			link(t, filepath.Join("..", "dot", "s.json"), filepath.Join(home, ".claude", "settings.json"))
			return filepath.Join(home, ".claude", "settings.json"), filepath.Join(home, "dot", "s.json")
		}, userFile},
		{"link to a link", func(t *testing.T, home string) (string, string) {
			put(t, filepath.Join(home, "s.json"), userFile, 0o644)
			link(t, filepath.Join(home, "s.json"), filepath.Join(home, "b", "l"))
			link(t, filepath.Join(home, "b", "l"), filepath.Join(home, "a", "l"))
			return filepath.Join(home, "a", "l"), filepath.Join(home, "s.json")
		}, userFile},
		{"folder that is a link", func(t *testing.T, home string) (string, string) {
			put(t, filepath.Join(home, "real", "dir", "up.json"), userFile, 0o644)
			put(t, filepath.Join(home, "real", "x"), "", 0o644)
			link(t, filepath.Join(home, "real", "dir"), filepath.Join(home, ".claude"))
			// Relative to where the folder really is.
			link(t, filepath.Join("..", "s.json"), filepath.Join(home, "real", "dir", "settings.json"))
			put(t, filepath.Join(home, "real", "s.json"), userFile, 0o644)
			return filepath.Join(home, ".claude", "settings.json"), filepath.Join(home, "real", "s.json")
		}, userFile},
		{"link to nothing yet", func(t *testing.T, home string) (string, string) {
			link(t, filepath.Join("dot", "s.json"), filepath.Join(home, "settings.json"))
			return filepath.Join(home, "settings.json"), filepath.Join(home, "dot", "s.json")
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			path, target := tt.make(t, home)
			opts := options(t)
			res, err := Install(path, wanted(0), isOurs, opts)
			if err != nil || res.Target != target {
				t.Fatalf("%+v %v", res, err)
			}
			if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
				t.Errorf("the link is gone: %v", err)
			}
			if get(t, path) != get(t, target) || !strings.Contains(get(t, target), hookPath) {
				t.Errorf("%s", get(t, target))
			}
			// The same file under its own name is the same edit.
			if res, err := Install(target, wanted(0), isOurs, opts); err != nil || res.Changed {
				t.Errorf("%+v %v", res, err)
			}
			if _, err := Uninstall(path, isOurs, opts); err != nil {
				t.Fatal(err)
			}
			if tt.text == "" {
				if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%v", err)
				}
				if _, err := os.Lstat(path); err != nil {
					t.Errorf("the link is gone: %v", err)
				}
			} else if got := get(t, target); got != tt.text {
				t.Errorf("%s", got)
			}
		})
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func TestErrorsLeaveEverythingAsItWas(t *testing.T) {
	for _, tt := range []struct {
		name, err string
		make      func(t *testing.T, home string) string
	}{
		{"no JSON", `settings.json: line 2, column 3: invalid character '/'`, func(t *testing.T, home string) string {
			put(t, filepath.Join(home, "settings.json"), "{\n  // x\n}", 0o600)
			return "settings.json"
		}},
		{"hooks of another shape", `settings.json: line 1, column 10: hooks is an array, not an object`, func(t *testing.T, home string) string {
			put(t, filepath.Join(home, "settings.json"), `{"hooks":[]}`, 0o600)
			return "settings.json"
		}},
		{"read-only file", "settings.json: the file is read-only; nothing was changed", func(t *testing.T, home string) string {
			put(t, filepath.Join(home, "settings.json"), userFile, 0o444)
			return "settings.json"
		}},
		{"folder instead of a file", "settings.json: is no regular file", func(t *testing.T, home string) string {
			put(t, filepath.Join(home, "settings.json", "x"), userFile, 0o600)
			return "settings.json"
		}},
		{"file instead of a folder", ".claude", func(t *testing.T, home string) string {
			put(t, filepath.Join(home, ".claude"), "x", 0o600)
			return filepath.Join(".claude", "settings.json")
		}},
		{"links in a circle", "settings.json: more than 40 links in a row", func(t *testing.T, home string) string {
			link(t, "b", filepath.Join(home, "settings.json"))
			link(t, "settings.json", filepath.Join(home, "b"))
			return "settings.json"
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, tt.make(t, home))
			before := tree(t, home)
			opts := options(t)
			res, err := Install(path, wanted(0), isOurs, opts)
			if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), home) {
				t.Errorf("%v", err)
			}
			if res.Changed || res.Backup != "" {
				t.Errorf("%+v", res)
			}
			opts.DryRun = true
			if _, dry := Install(path, wanted(0), isOurs, opts); tt.name != "file instead of a folder" && (dry == nil || dry.Error() != err.Error()) {
				t.Errorf("a dry run says %v", dry)
			}
			if got := tree(t, home); got != before {
				t.Errorf("before\n%s\nafter\n%s", before, got)
			}
		})
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // folders have no such mode there
	}
	home := t.TempDir()
	dir := filepath.Join(home, ".claude")
	path := filepath.Join(dir, "settings.json")
	put(t, path, userFile, 0o600)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	before := tree(t, home)
	for _, dry := range []bool{true, false} {
		opts := options(t)
		opts.DryRun = dry
		_, err := Install(path, wanted(0), isOurs, opts)
		if err == nil || !strings.Contains(err.Error(), "is read-only; nothing was changed") || tree(t, home) != before {
			t.Errorf("%v\n%s", err, tree(t, home))
		}
	}
}

// What is said of the bytes that uninstall gives back is true: they are the old ones
// only where somebody had such a file.
func TestRestoredAreOnlyBytesThatOnceWere(t *testing.T) {
	byHand := `{"hooks": {"Stop": [{"hooks": [{"command": "` + hookPath + `"}]}]}, "a": 1}`
	for _, r := range []struct {
		situation, before string
		between           func(t *testing.T, path string, opts Options)
		restored          bool
		after             string
	}{
		{"a file of the user's", `{"a": 1}`, nil, true, `{"a": 1}`},
		{"installed again over it", `{"a": 1}`, func(t *testing.T, path string, opts Options) {
			if _, err := Install(path, wanted(2), isOurs, opts); err != nil {
				t.Fatal(err)
			}
		}, true, `{"a": 1}`},
		{"registered by hand before", byHand, nil, false, `{"a": 1}`},
		{"edited between two installations", `{"a": 1}`, func(t *testing.T, path string, opts Options) {
			put(t, path, strings.Replace(get(t, path), `"a": 1`, `"a": 2`, 1), 0o600)
			if _, err := Install(path, wanted(2), isOurs, opts); err != nil {
				t.Fatal(err)
			}
		}, false, `{"a": 2}`},
	} {
		path := filepath.Join(t.TempDir(), "settings.json")
		put(t, path, r.before, 0o600)
		opts := options(t)
		if _, err := Install(path, wanted(0), isOurs, opts); err != nil {
			t.Fatal(err)
		}
		if r.between != nil {
			r.between(t, path, opts)
		}
		res, err := Uninstall(path, isOurs, opts)
		if err != nil || res.Restored != r.restored || get(t, path) != r.after {
			t.Errorf("%s: restored %v, %v\n%s", r.situation, res.Restored, err, get(t, path))
		}
	}
}

// Only what edits made, by name and form, counts as theirs.
func TestFilesOfEdits(t *testing.T) {
	home := t.TempDir()
	opts := Options{Dir: filepath.Join(home, "edits"), BackupDir: filepath.Join(home, "backups"), Now: func() time.Time { return day }}
	path := filepath.Join(home, "settings.json")
	put(t, path, userFile, 0o600)
	if _, err := Install(path, wanted(0), isOurs, opts); err != nil {
		t.Fatal(err)
	}
	ours := Files(opts)
	if len(ours) != 3 {
		t.Errorf("%q", ours)
	}
	const sum = "0123456789abcdef"
	for name, text := range map[string]string{
		"edits/settings-" + sum + ".lock":                                               "somebody's notes",
		"edits/settings-" + sum + ".record.json":                                        "no record",
		"edits/settings-x.lock":                                                         "",
		"edits/diary.txt":                                                               "x",
		"edits/settings-1" + sum[1:] + ".lock/x":                                        "",
		"backups/settings.json.stopgate-backup-20260102T030405.006Z":                    "beside its file somewhere",
		"backups/settings-" + sum + "-s.json.stopgate-backup-20260102T030405.006Z/x":    "",
		"backups/settings-" + sum + "-s.json.stopgate-backup-20260102T030405.006Z-mine": "",
	} {
		put(t, filepath.Join(home, filepath.FromSlash(name)), text, 0o600)
	}
	if got := Files(opts); !reflect.DeepEqual(got, ours) {
		t.Errorf("%q, want %q", got, ours)
	}
	if got := Files(Options{Dir: filepath.Join(home, "none"), BackupDir: filepath.Join(home, "none")}); len(got) > 0 {
		t.Errorf("%q in folders that are not there", got)
	}
}

func TestFailedChangeMakesNoFolders(t *testing.T) {
	home := t.TempDir()
	opts := options(t)
	opts.BackupDir = filepath.Join(home, "file", "x")
	put(t, filepath.Join(home, "file"), "", 0o600)
	before := tree(t, home)
	_, err := change(filepath.Join(home, "a", "b", "settings.json"), func([]byte) ([]byte, error) { return nil, errors.New("no") }, opts)
	if err == nil || tree(t, home) != before {
		t.Errorf("%v\n%s", err, tree(t, home))
	}
	put(t, filepath.Join(home, "settings.json"), userFile, 0o600)
	before = tree(t, home)
	res, err := Install(filepath.Join(home, "settings.json"), wanted(0), isOurs, opts)
	if err == nil || !strings.Contains(err.Error(), "backup: ") || res.Changed || tree(t, home) != before {
		t.Errorf("a backup that cannot be made: %v\n%s", err, tree(t, home))
	}
}

func TestRequiredArguments(t *testing.T) {
	if _, err := Install(filepath.Join(t.TempDir(), "x"), wanted(0), isOurs, Options{}); err == nil {
		t.Error("no folder for the lock")
	}
	if _, err := Install("", wanted(0), isOurs, options(t)); err == nil {
		t.Error("no path")
	}
}

func TestTwoAtOnceLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	put(t, path, `{"n": []}`, 0o600)
	opts := options(t)
	opts.Wait = time.Minute
	const n = 24
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() {
			_, errs[i] = change(path, func(old []byte) ([]byte, error) {
				var doc struct {
					N []int `json:"n"`
				}
				if err := json.Unmarshal(old, &doc); err != nil {
					return nil, err
				}
				doc.N = append(doc.N, i)
				return json.Marshal(doc)
			}, opts)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if !strings.Contains(get(t, path)+",", fmt.Sprint(i)) {
			t.Errorf("%d was lost: %s", i, get(t, path))
		}
	}
	if all, err := backupsOf(path, opts); err != nil || len(all) != 3 {
		t.Errorf("%q %v", all, err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 4 {
		t.Errorf("%v %v", left, err)
	}
}

func TestManyInstallsAndUninstallsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	put(t, path, userFile, 0o600)
	opts := options(t)
	opts.Wait = time.Minute
	var wg sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		wg.Go(func() {
			if i%2 == 0 {
				_, errs[i] = Install(path, wanted(i%5), isOurs, opts)
			} else {
				_, errs[i] = Uninstall(path, isOurs, opts)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if _, err := Uninstall(path, isOurs, opts); err != nil || get(t, path) != userFile {
		t.Errorf("%v\n%s", err, get(t, path))
	}
}

func TestProgramThatKnowsNoLockWritesMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	put(t, path, `{"a": 1}`, 0o600)
	runs := 0
	res, err := change(path, func(old []byte) ([]byte, error) {
		if runs++; runs == 1 {
			put(t, path, `{"a": 2}`, 0o600)
		}
		return bytes.Replace(old, []byte("a"), []byte("b"), 1), nil
	}, options(t))
	if err != nil || runs != 2 || get(t, path) != `{"b": 2}` || string(res.Old) != `{"a": 2}` || get(t, res.Backup) != `{"a": 2}` {
		t.Errorf("%d %+v %v %s", runs, res, err, get(t, path))
	}

	runs = 0
	_, err = change(path, func(old []byte) ([]byte, error) {
		runs++
		put(t, path, fmt.Sprint(runs), 0o600)
		return []byte("ours"), nil
	}, options(t))
	if err == nil || get(t, path) != fmt.Sprint(attempts) {
		t.Errorf("%v %s", err, get(t, path))
	}
}

func TestEditThatIsHeldUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	put(t, path, userFile, 0o600)
	opts := options(t)
	opts.Wait = 30 * time.Millisecond
	_, err := change(path, func([]byte) ([]byte, error) {
		_, err := change(path, func([]byte) ([]byte, error) { return []byte("{}"), nil }, opts)
		return nil, err
	}, opts)
	if !errors.Is(err, ErrBusy) || get(t, path) != userFile {
		t.Errorf("%v", err)
	}
	locks, err := filepath.Glob(filepath.Join(opts.Dir, "*.lock"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("%v %v", locks, err)
	}
	l := flock.New(locks[0])
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Errorf("the lock stayed: %v", err)
	}
	_ = l.Close()
}

func TestBackupsElsewhere(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "p", "settings.json")
	put(t, path, userFile, 0o600)
	opts := options(t)
	opts.BackupDir = filepath.Join(home, "backups")
	opts.Keep = 2
	for i := range 4 {
		if _, err := change(path, func([]byte) ([]byte, error) { return []byte(fmt.Sprint(i)), nil }, opts); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(opts.BackupDir, "other.stopgate-backup-20200102T030405.006Z"), "x", 0o600)
	all, err := backupsOf(path, opts)
	if err != nil || len(all) != 2 || get(t, all[0]) != "1" || get(t, all[1]) != "2" {
		t.Errorf("%q %v", all, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
	if left, err := os.ReadDir(opts.BackupDir); err != nil || len(left) != 3 {
		t.Errorf("%v %v", left, err)
	}
}

func TestReadIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	put(t, path, "", 0o600)
	if b, err := Read(path); err != nil || b == nil || len(b) != 0 {
		t.Errorf("%q %v", b, err)
	}
	if err := os.Truncate(path, maxSize+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil {
		t.Error("too much was read")
	}
	if b, err := Read(path + "x"); err != nil || b != nil {
		t.Errorf("%q %v", b, err)
	}
}

func TestScopes(t *testing.T) {
	env := func(dir string) func(string) string {
		return func(name string) string {
			if name == "CLAUDE_CONFIG_DIR" {
				return dir
			}
			return "other"
		}
	}
	text := func(all []Scope) string {
		var b strings.Builder
		for _, s := range all {
			b.WriteString(s.Name + "=" + filepath.ToSlash(s.Path) + " ")
		}
		return strings.TrimSpace(b.String())
	}
	managed := " managed=/etc/claude-code/managed-settings.json"
	for _, tt := range []struct {
		name, goos, home, project, config, want string
	}{
		{"linux", "linux", "/h", "/p", "", "user=/h/.claude/settings.json project=/p/.claude/settings.json local=/p/.claude/settings.local.json" + managed},
		{"another config folder", "linux", "/h", "/p", "/c", "user=/c/settings.json project=/p/.claude/settings.json local=/p/.claude/settings.local.json" + managed},
		{"no home", "linux", "", "/p", "", "project=/p/.claude/settings.json local=/p/.claude/settings.local.json" + managed},
		{"no project", "linux", "/h", "", "", "user=/h/.claude/settings.json" + managed},
		{"in the home folder", "linux", "/h", "/h", "", "user=/h/.claude/settings.json local=/h/.claude/settings.local.json" + managed},
		{"darwin", "darwin", "/h", "", "", "user=/h/.claude/settings.json managed=/Library/Application Support/ClaudeCode/managed-settings.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := text(scopes(tt.goos, tt.home, tt.project, env(tt.config))); got != tt.want {
				t.Errorf("%s", got)
			}
		})
	}
	if got := scopes("windows", "", "", nil); len(got) != 1 || !strings.HasPrefix(got[0].Path, `C:\Program Files\ClaudeCode`) {
		t.Errorf("%+v", got)
	}
}

func TestScopeFiles(t *testing.T) {
	dir := t.TempDir()
	s := Scope{Name: Managed, Path: filepath.Join(dir, "m.json"), Dir: filepath.Join(dir, "m.d")}
	if got, err := s.Files(); err != nil || len(got) != 0 {
		t.Errorf("%q %v", got, err)
	}
	for _, name := range []string{"m.json", "m.d/b.json", "m.d/a.json", "m.d/.c.json", "m.d/x.txt", "m.d/dir.json/x"} {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), "{}", 0o600)
	}
	got, err := s.Files()
	want := []string{s.Path, filepath.Join(s.Dir, "a.json"), filepath.Join(s.Dir, "b.json")}
	if err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%q %v", got, err)
	}
}
