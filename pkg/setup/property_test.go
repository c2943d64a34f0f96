package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"stopgate/pkg/settings"
)

// Whatever a settings file holds and however it is laid out: install and then
// uninstall give back the same bytes, also where somebody else added a key in
// between, which then stays.
func TestInstallThenUninstallGivesBackTheBytes(t *testing.T) {
	w := fresh(t)
	file := filepath.Join(w.Home(), "settings.json")
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 120 {
		before := document(r)
		if err := os.WriteFile(file, before, 0o600); err != nil {
			t.Fatal(err)
		}
		// As it is done, without placing and proving each time.
		plan := &InstallPlan{w: w, File: file}
		if err := errors.Join(plan.register(record{}), plan.edit(false)); err != nil {
			t.Fatalf("%d: %v\n%s", i, err, before)
		}
		installed, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found, err := settings.Find(installed, w.Ours())
		if err != nil || len(found) != 6 {
			t.Fatalf("%d: %d entries, %v\n%s", i, len(found), err, installed)
		}
		want := before
		if i%2 == 1 {
			var added bool
			if installed, added = addKey(installed); added {
				want, _ = addKey(before)
				if err := os.WriteFile(file, installed, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		back := &UninstallPlan{w: w}
		if back.clear(w.recogniser(), file); len(back.Files) != 1 || back.Err() != nil {
			t.Fatalf("%d: nothing to clear, %v", i, back.Err())
		}
		if _, err := settings.Uninstall(file, w.Ours(), w.edits(false)); err != nil {
			t.Fatal(err)
		}
		if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, want) {
			t.Fatalf("%d: %v\nbefore\n%s\nwant\n%s\nafter\n%s", i, err, before, want, after)
		}
	}
}

// addKey adds a key at the very start of an object that is not empty.
func addKey(doc []byte) ([]byte, bool) {
	var top map[string]any
	if json.Unmarshal(doc, &top) != nil || len(top) == 0 {
		return doc, false
	}
	at := bytes.IndexByte(doc, '{') + 1
	return append(append(bytes.Clone(doc[:at]), `"theirs": 1,`...), doc[at:]...), true
}

// document is a random settings file in one of the usual layouts, with a key of
// its own that no install adds.
func document(r *rand.Rand) []byte {
	top := map[string]any{"own": value(r, 2)}
	for range r.IntN(4) {
		top[fmt.Sprint("key", r.IntN(9))] = value(r, 3)
	}
	if r.IntN(3) > 0 {
		hooks := map[string]any{}
		for _, event := range []string{"SubagentStop", "PostToolUse", "SessionEnd", "Stop"} {
			if r.IntN(2) == 0 {
				continue
			}
			groups := []any{}
			for range r.IntN(3) {
				groups = append(groups, map[string]any{
					"matcher": "Bash",
					"hooks":   []any{map[string]any{"type": "command", "command": fmt.Sprint("/their/hook ", r.IntN(9))}},
				})
			}
			hooks[event] = groups
		}
		top["hooks"] = hooks
	}
	indent := []string{"", " ", "  ", "    ", "\t"}[r.IntN(5)]
	var out []byte
	if indent == "" {
		out, _ = json.Marshal(top) // maps of strings and numbers marshal
	} else {
		out, _ = json.MarshalIndent(top, "", indent)
	}
	switch r.IntN(4) {
	case 0:
		out = append(out, '\n')
	case 1:
		out = bytes.ReplaceAll(append(out, '\n'), []byte("\n"), []byte("\r\n"))
	}
	if r.IntN(8) == 0 {
		out = append([]byte("\ufeff"), out...)
	}
	return out
}

func value(r *rand.Rand, depth int) any {
	switch n := r.IntN(6); {
	case n == 0 && depth > 0:
		list := []any{}
		for range r.IntN(3) {
			list = append(list, value(r, depth-1))
		}
		return list
	case n == 1 && depth > 0:
		m := map[string]any{}
		for range r.IntN(3) {
			m[fmt.Sprint("k", r.IntN(9))] = value(r, depth-1)
		}
		return m
	case n == 2:
		return r.IntN(1000)
	case n == 3:
		return r.IntN(2) == 0
	case n == 4:
		return nil
	}
	return fmt.Sprintf("text %d é \" \\ /stopgate/bin/hook", r.IntN(9))
}
